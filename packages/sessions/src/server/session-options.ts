import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Principal } from '@x/schema'
import type { StateCodec, StateStore } from '@x/state-codec'

/** A value, now or later. */
export type Awaitable<T> = T | PromiseLike<T>

/** The state that handlers keep in a session. */
export interface SessionState<State> {
  /**
   * The schema of a state, of any library that implements Standard Schema. It is synchronous, and accepts its own
   * output. The state is JSON: a type that JSON cannot write, such as `Date`, is a type error that names the member. A
   * state of an earlier version of the program that the schema rejects is replaced by the initial one.
   */
  readonly schema: StandardSchemaV1<unknown, State>
  /** The first state of a session, where `onCreate` returns none. */
  readonly initial: State
  /**
   * Seals the states in place of the server's `state`. For states that are too large to travel, it is
   * `storedState({ store })`.
   */
  readonly codec?: StateCodec | undefined
}

/** A session that is being created. */
export interface NewSession {
  readonly id: string
  /** The end of the session, in milliseconds since 1970. Resources of the session may end at that time too. */
  readonly expiresAt: number
  readonly principal: Principal | undefined
  /** Aborts when the client no longer waits for the session. */
  readonly signal: AbortSignal
}

/** A session that its client deletes. */
export interface DeletedSession<State> {
  readonly id: string
  readonly principal: Principal | undefined
  /**
   * The state that the request brought. Undefined where the request named the session by its id alone, which is enough
   * for a deletion.
   */
  readonly state: State | undefined
}

/** The options of sessions, beside the state of their handlers. */
export interface SessionOptions {
  /**
   * Stores which sessions live, so that a deletion or `revoke` holds at every instance at once. Without a store, a
   * deletion holds at the instance that served it, and at those that the bus of the server notifies. At other instances
   * the session ends when it expires.
   */
  readonly store?: StateStore | undefined
  /**
   * The lifetime of a session in milliseconds. Default: 24 hours. The `maxAgeMs` of the server's `state` must be as
   * long.
   */
  readonly ttlMs?: number | undefined
}

/** Callbacks at the beginning and the end of sessions. */
export interface SessionEvents<State> {
  /**
   * Returns the first state of the session, or undefined for the initial one. The client gets an `McpError` that the
   * function throws.
   */
  readonly onCreate?: ((session: NewSession) => Awaitable<State | undefined | void>) | undefined
  /**
   * Frees the resources of the session. Called for each deletion, which one session may have twice, and never when a
   * session expires.
   */
  readonly onDelete?: ((session: DeletedSession<State>) => Awaitable<void>) | undefined
}
