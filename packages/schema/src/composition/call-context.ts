import { type JsonObject, withSignalOf } from '@x/core'
import {
  type BackgroundRunner,
  type Call,
  type CallContext,
  type CallHeaders,
  type ContextKey,
  contextKey,
  emptyContext,
  type HeaderParams,
  type JournalStore,
} from '../basic/exchange.ts'
import type { Root } from '../client/roots.ts'

/**
 * Returns the same call with one more value in its context. The call itself does not change, so that an outer
 * middleware does not see the value.
 *
 * @example
 * const tenants: Middleware = (next) => (request, call) => next(request, withContext(call, tenantKey, tenantOf(call.principal)))
 */
export function withContext<T>(call: Call, key: ContextKey<T>, value: T): Call {
  const { principal, notify } = call
  const context = new ContextValue(call.context, key.id, value)
  return withSignalOf({ principal, context, notify }, call)
}

/** Returns the same call with another receiver of its notifications. */
export function withNotify(call: Call, notify: Call['notify']): Call {
  const { principal, context } = call
  return withSignalOf({ principal, context, notify }, call)
}

/** The parts of a call, for tests and for programs that call an exchange without a transport. Each has a default. */
export type CallInit = { readonly [Member in keyof Call]?: Call[Member] | undefined }

/**
 * Makes a call of its parts: never aborted, without a principal, with an empty context, its notifications dropped by
 * default.
 */
export function createCall({ signal, principal, context, notify }: CallInit = {}): Call {
  return {
    signal: signal ?? new AbortController().signal,
    principal,
    context: context ?? emptyContext,
    notify: notify ?? ignoreNotification,
  }
}

function ignoreNotification(): void {}

/** One value, linked to the context that it was added to: 17 ns to make, where a copy of the call took 700. */
class ContextValue implements CallContext {
  readonly #outer: CallContext
  readonly #id: symbol
  readonly #value: unknown

  constructor(outerContext: CallContext, id: symbol, value: unknown) {
    this.#outer = outerContext
    this.#id = id
    this.#value = value
  }

  get<T>(key: ContextKey<T>): T | undefined {
    // The id was given together with a value of the key's type, by withContext.
    return key.id === this.#id ? (this.#value as T) : this.#outer.get(key)
  }
}

/** Stores the journal of the call, which would otherwise travel with its client. Set for calls that run as tasks. */
export const journalKey = contextKey<JournalStore>('x/journal')

/** Continues the call in the background, without a caller that waits. Set where calls may become tasks. */
export const backgroundKey = contextKey<BackgroundRunner>('x/background')

/** A part of a call that its task needs. It is recorded with the task, and restored in each run of the task. */
export interface RecordedPart {
  readonly value: JsonObject
  /** Members that are recorded only where they can be sealed. */
  readonly secret: JsonObject
}

/** The parts of a call to record, by name. Each is a function, because a part may change until the task is created. */
export const recordedPartsKey = contextKey<Readonly<Record<string, () => RecordedPart>>>('x/recorded-parts')

/**
 * Returns true when an extension adds to the result of the call, such as the new state of a session: a stored result
 * alone must then not answer a repeated call.
 */
export const extendsResultKey = contextKey<() => boolean>('x/extends-result')

/** The restored parts of a call in a run of its task, by name, with their sealed members. */
export const restoredPartsKey = contextKey<Readonly<Record<string, JsonObject>>>('x/restored-parts')

/**
 * The arguments that HTTP headers repeat. A client sets what it wants sent, a transport with headers what arrived
 * (basic/transports/streamable-http, custom headers from tool parameters).
 */
export const headerParamsKey = contextKey<HeaderParams>('x/header-params')

/**
 * The `Mcp-*` headers beside the message. A client sets those to be sent, a transport with headers those that arrived.
 */
export const callHeadersKey = contextKey<CallHeaders>('x/call-headers')

/** Marks a call whose retry may reach another instance, as one over HTTP does behind a balancer. */
export const canHandOffKey = contextKey<boolean>('x/can-hand-off')

/**
 * Returns undefined while the peer reads fast enough. Otherwise returns a promise that resolves when the peer has read
 * the queued messages or has disconnected. Set on long-lived calls.
 */
export const backPressureKey = contextKey<() => Promise<void> | undefined>('x/back-pressure')

/**
 * The address of the client, as the transport knows it. One constant over stdio and in memory. Callers of one address
 * share quotas.
 */
export const clientAddressKey = contextKey<string>('x/client-address')

/** The client that makes a call, for connections to servers of an older revision. */
export interface CallingClient {
  /** Lists the roots that the client's program gave, undefined where it gave none. */
  readonly listRoots?: (() => Promise<readonly Root[]>) | undefined
  /**
   * Calls back when the client abandons the call whose questions had this `requestState`. The returned function
   * removes the callback.
   */
  onRoundAbandoned(requestState: string, run: (reason: unknown) => void): () => void
}

/** The client that makes the call. Two calls with the same value have the same user and the same handlers. */
export const callingClientKey = contextKey<CallingClient>('x/calling-client')

/** The transport that the call came over. */
export const transportKey = contextKey<'http' | 'stdio'>('x/transport')

/**
 * Returns the same call with one more `Mcp-*` header beside its request, for a middleware of a client.
 * Transports without headers ignore it.
 */
export function withHeader(call: Call, name: string, value: string): Call {
  const headers = new Map<string, string>()
  call.context.get(callHeadersKey)?.forEach((existingValue, existingName) => headers.set(existingName, existingValue))
  return withContext(call, callHeadersKey, headers.set(name, value))
}
