import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Principal } from '@x/schema'
import type { StateCodec, StateStore } from '@x/state-codec'

/** A value, now or later. */
export type Awaitable<T> = T | PromiseLike<T>

/** The state that handlers keep in a session. */
export interface SessionState<State> {
  /**
   * The schema of a state, of any library that implements Standard Schema. Synchronous, and one that accepts its own
   * output. The state is JSON: the type of one that is not makes an error that names the member (`Date`, `Map`, a
   * function). A state of an earlier version of the program that it rejects is replaced by the initial one.
   */
  readonly schema: StandardSchemaV1<unknown, State>
  /** The first state of a session, where `onCreate` returns none. */
  readonly initial: State
  /**
   * Seals the states in place of the server's `state`: `storedState({ store })` for states that are too large to travel.
   */
  readonly codec?: StateCodec | undefined
}

/** A session that is being created. */
export interface NewSession {
  readonly id: string
  /** The end of the session, in milliseconds since 1970: what is opened for it may end then too. */
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
   * The state that the request brought, undefined where it named the session by its id alone, which is enough to delete
   * it.
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
   * Returns the session's first state, or undefined for the initial one. An `McpError` that it throws is the client's
   * answer.
   */
  readonly onCreate?: ((session: NewSession) => Awaitable<State | undefined | void>) | undefined
  /**
   * Frees the resources of the session. Called once for each deletion, possibly twice for one session, and never for
   * one that expires.
   */
  readonly onDelete?: ((session: DeletedSession<State>) => Awaitable<void>) | undefined
}
