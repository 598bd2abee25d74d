import { onCancel } from '@x/core'
import type { Call, JournalStore } from '@x/exchange'
import {
  type ClientCapabilities,
  errorCodes,
  type JsonObject,
  McpError,
  metaKeys,
  type RequestId,
  type RequestMetaObject,
  findMissingCapabilities,
  type InputRequest,
  isJsonObject,
} from '@x/schema'
import { capabilityNamesOf } from '@x/schema/internal'
import type { Composition } from '@x/exchange/internal'
import type { Catalog } from '../compile/catalog.ts'
import type { ServerSettings } from '../compile/settings.ts'
import type { InstanceWork } from '../shedding/hand-off.ts'
import { samplingCapabilitiesFor } from './input-capabilities.ts'

/** Everything that the server knows of one request while it handles it; gone when the request is answered. */
export interface ServedRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  readonly call: Call
  /** Quotas count the caller under this key. */
  readonly callerKey: string
  readonly meta: RequestMetaObject
  /** The definitions that were current when the request began. A later `update` does not change them. */
  readonly catalog: Catalog
  readonly settings: ServerSettings
  /** Resources of extensions, in the order of the extensions. */
  readonly extensionResources: Composition['resources']
  /** Stores the journal of a call that runs as a task. Undefined for any other call. */
  readonly journalStore: JournalStore | undefined
  /** How many stops had been announced for this instance when the request arrived. */
  readonly drainCount: number
  /** The facts about the request that its events contain. Undefined without an observer of events. */
  readonly observation:
    | {
        /** When the request arrived, in milliseconds of monotonic time. */
        readonly beganAt: number
        /** When the request arrived, in milliseconds since 1970. */
        readonly startedAt: number
        /** Steps whose work the request has done. */
        stepCount: number
        /** Questions that the request has left to its client. */
        questionCount: number
        /** Keys of the questions whose answers came with the request and that the handler has not read yet. */
        readonly newAnswers: Set<string>
      }
    | undefined
  /** Undefined before the first step or checkpoint of the request. */
  work: InstanceWork | undefined
  /** Derived from the client's idempotency key. Undefined if the client sent none. */
  callId: string | undefined
  /** True until the request is answered. After that, no message may be sent for it. */
  isOpen: boolean
  /** Removes the call from the count in the ledger. Undefined while the call is not counted. */
  releaseCall: (() => void) | undefined
  /**
   * Called when the call is cancelled, and removed when the request ends, because the call's signal may live longer.
   */
  cancelListeners: ((reason: unknown) => void)[] | undefined
}

/** Calls `listener` if the call is cancelled before the request has ended. */
export function onRequestCancelled(request: ServedRequest, listener: (reason: unknown) => void): void {
  if (!request.isOpen) return
  onCancel(request.call, listener)
  request.cancelListeners ??= []
  request.cancelListeners.push(listener)
}

/**
 * Throws if the client has not declared the capabilities that a definition, or these questions to the client, need
 * (basic/index, `_meta`). The error has the questions, so that a program can say what its user would have been asked.
 */
export function requireCapabilities(
  neededCapabilities: ClientCapabilities,
  { meta }: ServedRequest,
  questions?: Readonly<Record<string, InputRequest>>,
): void {
  const undeclaredCapabilities = findMissingCapabilities(meta[metaKeys.clientCapabilities], neededCapabilities)
  if (undeclaredCapabilities === undefined) return
  const names = capabilityNamesOf(undeclaredCapabilities).join(', ')
  const message = `The client must declare these capabilities for this request: ${names}`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, {
    data: { requiredCapabilities: undeclaredCapabilities, ...(questions && { questions }) },
  })
}

/** Throws if the client has not declared the capabilities that answering the requests needs. */
export function requireInputCapabilities(
  inputRequests: Readonly<Record<string, InputRequest>>,
  request: ServedRequest,
): void {
  let elicitation: ClientCapabilities['elicitation']
  let sampling: ClientCapabilities['sampling']
  let roots: ClientCapabilities['roots']
  for (const inputRequest of Object.values(inputRequests)) {
    if (inputRequest.method === 'roots/list') roots = {}
    else if (inputRequest.method === 'sampling/createMessage')
      sampling = { ...sampling, ...samplingCapabilitiesFor(inputRequest.params) }
    else elicitation = { ...elicitation, ...(inputRequest.params.mode === 'url' ? { url: {} } : { form: {} }) }
  }
  requireCapabilities(
    { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots }) },
    request,
    inputRequests,
  )
}

const sessionMetaKey = 'io.modelcontextprotocol/session'

export function sessionIdOf({ meta }: Pick<ServedRequest, 'meta'>): string | undefined {
  const session = meta[sessionMetaKey]
  return isJsonObject(session) && typeof session['sessionId'] === 'string' ? session['sessionId'] : undefined
}
