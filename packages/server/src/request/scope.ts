import {
  type Call,
  type ClientCapabilities,
  errorCodes,
  type JsonObject,
  McpError,
  metaKeys,
  type RequestId,
  type RequestMetaObject,
  supports,
} from '@x/schema'
import type { StateCodec } from '@x/state-codec'
import type { Catalog } from '../catalog.ts'
import type { ServerWarning } from '../server-warning.ts'
import type { Gauge } from '../shedding/gauge.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'

/** What the author of a server chose, and `update` does not change. */
export interface Settings {
  readonly onError: (error: unknown, where: ErrorPlace) => void
  readonly describeError: (error: unknown, where: ErrorPlace) => string
  /** How many progress and log messages one call may send in a second. */
  readonly messagesPerSecond: number
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** What seals `requestState`; undefined where nothing may be asked. */
  readonly state: StateCodec | undefined
  readonly warn: (warning: ServerWarning) => void
  /** Whether every handler runs again at each of its awaits, to show what is not repeatable. */
  readonly strictReplay: boolean
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly randomUuid: () => string
  readonly subscriptions: Subscriptions
  /** How busy the server is. */
  readonly gauge: Gauge
}

/** Which request an error came from. */
export interface ErrorPlace {
  readonly method: string
  /** The name or URI of the tool, prompt, resource or template. */
  readonly name?: string | undefined
}

/** One request while it is served; the only thing that a request leaves behind, and it is dropped with the answer. */
export interface Scope {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  readonly call: Call
  readonly meta: RequestMetaObject
  /** The definitions that the request began with; an update in between does not reach it. */
  readonly catalog: Catalog
  readonly settings: Settings
  /** False once the request has been answered: nothing may be sent about it then. */
  open: boolean
  /** What was told to `onAbort` for this request, and is taken back with its end: the caller's signal may live on. */
  followers: (() => void)[] | undefined
}

/** Refuses a request whose client did not declare what the definition needs (basic/index, `_meta`). */
export function requireCapabilities(needed: ClientCapabilities | undefined, { meta }: Scope): void {
  const missing = needed && supports(meta[metaKeys.clientCapabilities], needed)
  if (missing === undefined) return
  const names = Object.keys(missing).join(', ')
  const message = `The client must declare these capabilities for this request: ${names}`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, { data: { requiredCapabilities: missing } })
}

/** Tells the author of an error that the peer does not see whole. An `onError` that fails changes nothing. */
export function report(error: unknown, where: ErrorPlace, { onError }: Pick<Settings, 'onError'>): void {
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
