import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Principal } from '@x/exchange'
import type { StateCodec, StateStore } from '@x/state-codec'

/** A value, now or later. */
export type Awaitable<T> = T | PromiseLike<T>

/** The state that handlers keep in a session. */
export interface SessionState<State> {
  /**
   * The schema of a state, of any library that implements Standard Schema. The schema must be synchronous and must
   * accept its own output. The state must be JSON. For other types, such as `Date`, the compiler reports the member. If
   * the schema rejects a state that an earlier version of the program stored, the initial state replaces that state.
   */
  readonly schema: StandardSchemaV1<unknown, State>
  /** The first state of a session for which `onCreate` returns none. */
  readonly initial: State
  /**
   * The codec that seals the states. Default: the server's `state`. For states that are too large to send with each
   * request, use `storedState({ store })`.
   */
  readonly codec?: StateCodec | undefined
}

/** A session that is being created. */
export interface NewSession {
  readonly id: string
  /** The end of the session, in milliseconds since 1970. Resources of the session can be freed at that time. */
  readonly expiresAt: number
  readonly principal: Principal | undefined
  /** Aborts when the client cancels the creation of the session. */
  readonly signal: AbortSignal
}

/** A session that a client deletes. */
export interface DeletedSession<State> {
  readonly id: string
  readonly principal: Principal | undefined
  /** The state in the request. Undefined if the request contained only the id, which is enough for a deletion. */
  readonly state: State | undefined
}

/** The options of sessions, except for the state of their handlers. */
export interface SessionOptions {
  /**
   * The store of the sessions that have not ended. With a store, a deletion or `revoke` takes effect at every instance
   * at once. Without a store, it takes effect at the instance that served it, and at the instances that the server's
   * bus notifies. At other instances the session ends when it expires. Without a store, a process remembers at most
   * 10,000 ended sessions, and 1,000 of one caller.
   */
  readonly store?: StateStore | undefined
  /**
   * The lifetime of a session in milliseconds. Default: 24 hours. The `maxAgeMs` of the server's `state` must be at
   * least as long, or `createServer` throws a `RangeError`.
   */
  readonly ttlMs?: number | undefined
}

/** Callbacks at the beginning and the end of sessions. */
export interface SessionEvents<State> {
  /**
   * Returns the first state of the session, or undefined for the option `initial`. If the function throws an
   * `McpError`, the client receives that error.
   */
  readonly onCreate?: ((session: NewSession) => Awaitable<State | undefined | void>) | undefined
  /**
   * Frees the resources of the session. Called for each deletion by a client, and when the creation is cancelled or
   * fails after `onCreate` has returned. A client may delete one session twice. Not called when a session expires or is
   * revoked. An error is logged, and the client does not receive it.
   */
  readonly onDelete?: ((session: DeletedSession<State>) => Awaitable<void>) | undefined
}
