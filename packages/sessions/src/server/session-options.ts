import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ErrorListener, Runtime } from '@x/core'
import type { JsonObject, Principal } from '@x/schema'
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

/** The request behind a failure that its answer does not show. */
export interface SessionErrorContext {
  readonly method: string
}

/** The news that a session has ended. */
export interface SessionChange {
  readonly topic: string
  readonly data?: JsonObject | undefined
}

/** Carries the ends of sessions between instances: any `ChangeBus` of `@x/server` is one. */
export interface SessionBus {
  /** Sends to every instance that listens. Rejects when the news could not be delivered to the bus. */
  publish(change: SessionChange): Promise<void>
  /** Listens until the function that it resolves with is called. `onGap`: news may have been lost. */
  listen(listener: {
    readonly onChange: (change: SessionChange) => void
    readonly onGap: () => void
  }): Promise<() => void>
}

/** The options of sessions, beside the state of their handlers. */
export interface SessionOptions<Name extends string = 'sessions'> {
  /**
   * The extension's member of the server. Default: `sessions`. A second kind of sessions at one server needs a name
   * of its own. It is in its methods (`carts/create`), its `_meta` key and its header as well, so that clients have to
   * use the same.
   */
  readonly name?: Name | undefined
  /**
   * Seals ids and states: `sealedState({ keys })` of `@x/state-codec`, with the same keys at every instance. With
   * `signedState` a client can read the state.
   */
  readonly codec: StateCodec
  /** Seals states, instead of `codec`: `storedState({ store })` for those that are too large to travel. */
  readonly stateCodec?: StateCodec | undefined
  /**
   * Stores which sessions live, so that a deletion or `revoke` holds at every instance at once. Without it nothing is
   * stored: a deletion holds at the instance that served it, or at those that a `bus` notifies, and at the others the
   * session ends when it expires.
   */
  readonly store?: StateStore | undefined
  /**
   * Notifies every instance at once of a deletion or `revoke`, where there is no `store`: `redisBus` or `postgresBus`
   * of `@x/server`. An instance that begins later, or is cut off from the bus, does not receive it.
   */
  readonly bus?: SessionBus | undefined
  /** The lifetime of a session in milliseconds. Default: 24 hours. The codec's `maxAgeMs` must be as long. */
  readonly ttlMs?: number | undefined
  /**
   * Takes the errors that a client does not see: the cause of a rejected session, a state that cannot be sealed, a
   * store that fails. The server's `onError` when absent.
   */
  readonly onError?: ErrorListener<[error: unknown, where: SessionErrorContext]>
  /** Time and chance. Default: the platform's. */
  readonly runtime?: Partial<Runtime> | undefined
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
