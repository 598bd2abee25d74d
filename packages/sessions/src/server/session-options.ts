import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Principal } from '@x/exchange'
import type { StateCodec, StateStore } from '@x/state-codec'

/** A value, now or later. */
export type Awaitable<T> = T | PromiseLike<T>

/** What handlers keep in a session. */
export interface SessionState<State> {
  /**
   * Schema of a state, of any library that implements Standard Schema. It must be synchronous and accept its own
   * output. The state must be JSON; for other types, such as `Date`, the compiler reports the member. If the schema
   * rejects a state that an earlier version of the program stored, the initial state takes its place.
   */
  readonly schema: StandardSchemaV1<unknown, State>
  /** First state of a session for which `onCreate` returns none. */
  readonly initial: State
  /**
   * Seals the states. Default: the server's `state`. For states that are too large to send with each request, use
   * `storedState({ store })`.
   */
  readonly codec?: StateCodec | undefined
}

/** A session that is being created. */
export interface NewSession {
  readonly id: string
  /** When the session ends, in milliseconds since 1970. Its resources can be freed then. */
  readonly expiresAt: number
  readonly principal: Principal | undefined
  /** Aborts when the client cancels the creation of the session. */
  readonly signal: AbortSignal
}

/** A session that a client deletes. */
export interface DeletedSession<State> {
  readonly id: string
  readonly principal: Principal | undefined
  /** State in the request. Undefined if it contained only the id, which is enough for a deletion. */
  readonly state: State | undefined
}

/** Options of sessions, except for the state of their handlers. */
export interface SessionOptions {
  /**
   * Knows the sessions that have not ended. With a store, a deletion or `revoke` takes effect at every instance at
   * once. Without one, it takes effect at the instance that served it, and at those that the server's bus notifies;
   * elsewhere the session ends when it expires, and a process remembers at most 10,000 ended sessions, and 1,000 of one
   * caller.
   */
  readonly store?: StateStore | undefined
  /**
   * Lifetime of a session in milliseconds. Default: 24 hours. The `maxAgeMs` of the server's `state` must be at least
   * as long, or `createServer` throws a `RangeError`.
   */
  readonly ttlMs?: number | undefined
}

/** What happens when sessions begin and end. */
export interface SessionEvents<State> {
  /**
   * Gives the first state of the session, or undefined for the option `initial`. Throw an `McpError` to send it to the
   * client.
   */
  readonly onCreate?: ((session: NewSession) => Awaitable<State | undefined | void>) | undefined
  /**
   * Frees the resources of the session. Called for each deletion by a client, which may delete one session twice, and
   * when the creation is cancelled or fails after `onCreate` has returned. Not called when a session expires or is
   * revoked. An error is logged, and the client does not receive it.
   */
  readonly onDelete?: ((session: DeletedSession<State>) => Awaitable<void>) | undefined
}
