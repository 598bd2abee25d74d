import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonValue, Principal } from '@x/schema'
import type { StateCodec, StateStore } from '@x/state-codec'

/** A value, now or later. */
export type Awaitable<T> = T | PromiseLike<T>

/** What handlers keep in a session. */
export interface SessionState<State extends JsonValue> {
  /**
   * What a state must be; a schema of any library that keeps to Standard Schema, which accepts what it gives, and at once. A state
   * of an earlier version of the program that it refuses begins anew.
   */
  readonly schema: StandardSchemaV1<unknown, State>
  /** What a session begins with, where `onCreate` gives nothing else. */
  readonly initial: State
}

/** A session that begins. */
export interface NewSession {
  readonly id: string
  /** When it ends, in milliseconds since 1970: what is opened for it may end then too. */
  readonly expiresAt: number
  readonly principal: Principal | undefined
  /** Aborts when nobody waits for the session any more. */
  readonly signal: AbortSignal
}

/** A session that its client has deleted. */
export interface DeletedSession<State> {
  readonly id: string
  readonly principal: Principal | undefined
  /** What the client's request brought of it. */
  readonly state: State
}

/** What failed behind an answer that says nothing of it. */
export interface SessionFailure {
  readonly method: string
}

/** What makes sessions, beside the state of their handlers. */
export interface SessionOptions {
  /**
   * Seals ids and states: `sealed({ keys })` of `@x/state-codec`, with the same keys at every instance. With `signed` a client can read
   * the state.
   */
  readonly codec: StateCodec
  /** Seals states, instead of `codec`: `stored({ store })` for those that are too large to travel. */
  readonly stateCodec?: StateCodec | undefined
  /**
   * Remembers which sessions live, so that a deletion or `revoke` holds at every instance at once. Without it nothing is stored: an
   * instance knows of the deletions that it was told of, and the others find out when the session expires.
   */
  readonly store?: StateStore | undefined
  /** How long a session lives, in milliseconds; 24 hours when absent. The codec must open tokens for as long: `maxAgeMs`. */
  readonly ttlMs?: number | undefined
  /** Is told of what a client does not see: why a session was refused, what could not be sealed, a store that fails. */
  readonly onError?: ((error: unknown, where: SessionFailure) => void) | undefined
  /** Milliseconds since 1970; `Date.now` when absent. */
  readonly now?: (() => number) | undefined
  /** What makes ids differ; `crypto.randomUUID` when absent. */
  readonly randomUuid?: (() => string) | undefined
}

/** What an author does when sessions come and go. */
export interface SessionEvents<State> {
  /** Gives the session's first state, or nothing for the initial one; an McpError that it throws is the client's answer. */
  readonly onCreate?: ((session: NewSession) => Awaitable<State | undefined | void>) | undefined
  /** Frees what belongs to the session. It may be told twice of one that was deleted twice, and never of one that expired. */
  readonly onDelete?: ((session: DeletedSession<State>) => Awaitable<void>) | undefined
}
