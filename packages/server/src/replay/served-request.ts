import {
  type Call,
  type ClientCapabilities,
  errorCodes,
  type JournalStore,
  type JsonObject,
  McpError,
  metaKeys,
  type RequestId,
  type RequestMetaObject,
  type Runtime,
  supports,
} from '@x/schema'
import type { StateCodec } from '@x/state-codec'
import type { Catalog } from '../compile/catalog.ts'
import type { ServerWarning } from '../request/server-warning.ts'
import type { CallerLimit } from '../shedding/caller-limit.ts'
import type { IdempotencyOptions } from '../shedding/shedding-options.ts'
import type { LoadMonitor } from '../shedding/load-monitor.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'

/** The settings of a server, which `update` does not change. */
export interface ServerSettings {
  readonly onError: (error: unknown, where: ErrorContext) => void
  readonly describeError: (error: unknown, where: ErrorContext) => string
  /** The progress and log messages that one call may send in a second. */
  readonly maxNotificationsPerSecond: number
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** The codec of `requestState`; undefined where no handler may ask. */
  readonly state: StateCodec | undefined
  /** The service that `requestState` is bound to. */
  readonly stateAudience: string
  /** True where answers are believed that came before anything was asked. */
  readonly acceptUnaskedResponses: boolean
  readonly warn: (warning: ServerWarning) => void
  /** True when every handler runs again at each of its awaits, to detect code that is not repeatable. */
  readonly strictReplay: boolean
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly randomUuid: () => string
  readonly runtime: Runtime
  readonly subscriptions: Subscriptions
  /** The calls that each caller has at once. */
  readonly callers: CallerLimit
  /** The load of the server. */
  readonly loadMonitor: LoadMonitor
  /** The store of completed results, for calls that are sent again. */
  readonly idempotency: IdempotencyOptions | undefined
}

/** The request that an error belongs to. */
export interface ErrorContext {
  readonly method: string
  /** The name or URI of the tool, prompt, resource or template. */
  readonly name?: string | undefined
}

/** One request while it is served; the only thing that a request leaves behind, and it is dropped with the answer. */
export interface RequestState {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  readonly call: Call
  /** The key by which quotas count the caller. */
  readonly caller: string
  readonly meta: RequestMetaObject
  /** The definitions that the request began with; an update in between does not reach it. */
  readonly catalog: Catalog
  readonly settings: ServerSettings
  /** Stores the journal of a call that runs as a task. */
  readonly journal: JournalStore | undefined
  /** Derived from the idempotency key of the client; undefined without one. */
  callId: string | undefined
  /** False once the request has been answered: nothing may be sent about it then. */
  open: boolean
  /** True while the request counts among the calls of its caller. */
  isCounted: boolean
  /** Listeners that this request added to the caller's signal, which may live on; removed at its end. */
  followers: (() => void)[] | undefined
}

/** Refuses a request whose client did not declare what the definition needs (basic/index, `_meta`). */
export function requireCapabilities(needed: ClientCapabilities | undefined, { meta }: RequestState): void {
  const missing = needed && supports(meta[metaKeys.clientCapabilities], needed)
  if (missing === undefined) return
  const names = Object.keys(missing).join(', ')
  const message = `The client must declare these capabilities for this request: ${names}`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, { data: { requiredCapabilities: missing } })
}

/** Reports an error that the peer does not see whole. An `onError` that fails changes nothing. */
export function report(error: unknown, where: ErrorContext, { onError }: Pick<ServerSettings, 'onError'>): void {
  try {
    onError(error, where)
  } catch {
    // The request goes on: its answer must not depend on how its errors are written down.
  }
}

/** A name from a peer, for an error message: quoted, and never long. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}
