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

/** The facts about a request that its events contain. */
export interface RequestObservation {
  /** The monotonic time at which the request arrived, in milliseconds. */
  readonly beganAt: number
  /** The time at which the request arrived, in milliseconds since 1970. */
  readonly startedAt: number
  /** The number of steps whose work the request has done. */
  stepCount: number
  /** The number of questions that the request has left to its client. */
  questionCount: number
  /** The keys of the questions whose answers came with the request and that the handler has not read yet. */
  readonly newAnswers: Set<string>
}

/** The state of one request while the server handles it. It is discarded when the request is answered. */
export interface ServedRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  readonly call: Call
  /** The key under which quotas count the caller. */
  readonly callerKey: string
  readonly meta: RequestMetaObject
  /** The definitions that were current when the request began. A later `update` does not change them. */
  readonly catalog: Catalog
  readonly settings: ServerSettings
  /** The resources of extensions, in the order of the extensions. */
  readonly extensionResources: Composition['resources']
  /** The store for the journal of a call that runs as a task. Undefined for any other call. */
  readonly journalStore: JournalStore | undefined
  /** The number of stops that had been announced for this instance when the request arrived. */
  readonly drainCount: number
  /** The facts for the events of the request. Undefined without an observer. */
  readonly observation: RequestObservation | undefined
  /** Undefined before the first step or checkpoint of the request. */
  work: InstanceWork | undefined
  /** The id of the call, derived from the client's idempotency key. Undefined if the client sent no key. */
  callId: string | undefined
  /** True until the request is answered. After that, no message may be sent for it. */
  isOpen: boolean
  /** Removes the call from the count in the ledger. Undefined while the call is not counted. */
  releaseCall: (() => void) | undefined
  /**
   * The callbacks for the cancellation of the call. They are removed when the request ends, because the signal of the
   * call may exist longer.
   */
  cancelListeners: ((reason: unknown) => void)[] | undefined
}

/** Adds a callback that runs when the call is cancelled before the request has ended. */
export function onRequestCancelled(request: ServedRequest, listener: (reason: unknown) => void): void {
  if (!request.isOpen) return
  onCancel(request.call, listener)
  request.cancelListeners ??= []
  request.cancelListeners.push(listener)
}

/** Throws if the client has not declared the capabilities that a definition needs (basic/index, `_meta`). */
export function requireCapabilities(neededCapabilities: ClientCapabilities, { meta }: ServedRequest): void {
  const undeclaredCapabilities = findMissingCapabilities(meta[metaKeys.clientCapabilities], neededCapabilities)
  if (undeclaredCapabilities === undefined) return
  const names = capabilityNamesOf(undeclaredCapabilities).join(', ')
  const message = `The client must declare these capabilities for this request: ${names}`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, {
    data: { requiredCapabilities: undeclaredCapabilities },
  })
}

/** Throws if the client has not declared the capabilities that answering the requests needs. */
export function requireInputCapabilities(inputRequests: readonly InputRequest[], request: ServedRequest): void {
  let elicitation: ClientCapabilities['elicitation']
  let sampling: ClientCapabilities['sampling']
  let roots: ClientCapabilities['roots']
  for (const inputRequest of inputRequests) {
    if (inputRequest.method === 'roots/list') roots = {}
    else if (inputRequest.method === 'sampling/createMessage')
      sampling = { ...sampling, ...samplingCapabilitiesFor(inputRequest.params) }
    else elicitation = { ...elicitation, ...(inputRequest.params.mode === 'url' ? { url: {} } : { form: {} }) }
  }
  requireCapabilities(
    { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots }) },
    request,
  )
}

/** The `_meta` key under which a request names its session. */
const sessionMetaKey = 'io.modelcontextprotocol/session'

/** Returns the id of the session that a request names. */
export function sessionIdOf({ meta }: Pick<ServedRequest, 'meta'>): string | undefined {
  const session = meta[sessionMetaKey]
  return isJsonObject(session) && typeof session['sessionId'] === 'string' ? session['sessionId'] : undefined
}
