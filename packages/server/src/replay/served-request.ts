import {
  type Call,
  type ClientCapabilities,
  errorCodes,
  isJsonObject,
  type JournalStore,
  type JsonObject,
  McpError,
  metaKeys,
  type RequestId,
  type RequestMetaObject,
  findMissingCapabilities,
} from '@x/schema'
import type { Catalog } from '../compile/catalog.ts'
import type { ServerSettings } from '../compile/settings.ts'

/** One request while it is served. The only thing that a request leaves behind, and it is dropped with the answer. */
export interface RequestState {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  readonly call: Call
  /** The key by which quotas count the caller. */
  readonly callerKey: string
  readonly meta: RequestMetaObject
  /** The definitions that the request began with. An update in between does not reach it. */
  readonly catalog: Catalog
  readonly settings: ServerSettings
  /** Stores the journal of a call that runs as a task. */
  readonly journalStore: JournalStore | undefined
  /** Derived from the idempotency key of the client, undefined without one. */
  callId: string | undefined
  /** False once the request has been answered: nothing may be sent about it then. */
  isOpen: boolean
  /** Gives the call back to the ledger, undefined while it is not counted. */
  releaseCall: (() => void) | undefined
  /** Listeners that this request added to the caller's signal, which may live on. Removed at its end. */
  abortListeners: (() => void)[] | undefined
}

/** The `_meta` key under which a request names its session. */
const sessionMetaKey = 'io.modelcontextprotocol/session'

/** Returns the id of the session that a request names. */
export function sessionIdOf({ meta }: Pick<RequestState, 'meta'>): string | undefined {
  const session = meta[sessionMetaKey]
  return isJsonObject(session) && typeof session['sessionId'] === 'string' ? session['sessionId'] : undefined
}

/** Rejects a request whose client did not declare what the definition needs (basic/index, `_meta`). */
export function requireCapabilities(neededCapabilities: ClientCapabilities | undefined, { meta }: RequestState): void {
  const undeclaredCapabilities =
    neededCapabilities && findMissingCapabilities(meta[metaKeys.clientCapabilities], neededCapabilities)
  if (undeclaredCapabilities === undefined) return
  const names = Object.keys(undeclaredCapabilities).join(', ')
  const message = `The client must declare these capabilities for this request: ${names}`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, {
    data: { requiredCapabilities: undeclaredCapabilities },
  })
}
