import type { JsonValue, Runtime } from '@x/core'

/** Converts between a JSON value and a URL-safe string that an untrusted peer may carry. */
export interface StateCodec {
  /**
   * Seals a value into a token.
   *
   * @throws StateUsageError when the value is not JSON or is too large, and when the context is invalid.
   * @throws StateError with `too_old` when the flow exceeds its maximum age, and with `unavailable` when a store cannot
   * be reached.
   */
  seal(value: JsonValue, context: SealOptions): Promise<string>
  /**
   * Opens a token and returns its value. The context must equal that with which the token was sealed.
   *
   * @throws StateError for every token that must not be trusted. The `code` of the error is only for the operator.
   */
  open(token: string, context: OpenOptions): Promise<JsonValue>
  /** The longest time in milliseconds during which a token of this codec can open. */
  readonly lifetimeMs?: number | undefined
  /**
   * True if a token opens once, except with the option `reusable`. A server then opens the token of a call only when it
   * can continue the call.
   */
  readonly opensOnce?: boolean | undefined
  /**
   * Resolves when the store of the codec answers. A server calls it to find out whether it is ready. Absent in a codec
   * without a store.
   *
   * @throws StateError with `unavailable` when the store cannot be reached.
   */
  ping?(): Promise<void>
}

/** What a token is for. Except for `owner`, it must be equal when the token is sealed and when it is opened. */
export interface TokenContext {
  /**
   * The purpose of the token, 1 to 256 characters. The keys of a codec are derived from the purpose. Readable tokens
   * contain it in their header.
   */
  readonly purpose: string
  /**
   * Member names that are frequent in the values of this purpose, at most 50. `sealedState` leaves these names out of
   * its tokens, which are shorter then. The list is a part of the token format. Every instance must have the same names
   * in the same order, and a new name must be added at the end.
   */
  readonly memberNames?: readonly string[] | undefined
  /**
   * The service that the token is for. It replaces the `audience` of the codec. All instances of the service use the
   * same name.
   */
  readonly audience?: string | undefined
  /**
   * A value that the token is bound to, such as a principal, a method and its arguments. It may be any JSON value.
   * The token contains only its digest.
   */
  readonly binding?: JsonValue | undefined
  /**
   * The owner of the values that a codec writes to its store. The owner's quota in the store limits them. The owner is
   * not sealed into the token, so that a caller with another owner can open the token.
   */
  readonly owner?: string | undefined
}

/** The options for opening a token. */
export interface OpenOptions extends TokenContext {
  /**
   * A function that every codec calls before `open` resolves. A server learns from it when a call began, which is why
   * a codec of your own must call it too, or pass the options on to the codec that it wraps.
   */
  readonly onOpen?: ((times: TokenTimes) => void) | undefined
  /**
   * True for a token that arrives with many requests, such as the token of a session. A codec with keys may then keep
   * decrypted contents in memory, at most 512 of them. It checks the context at every opening. Default: false.
   */
  readonly cacheContent?: boolean | undefined
  /**
   * True for a token that a peer sends again and again, such as the id of a session or of a task. `singleUseState` then
   * opens it like the wrapped codec, and does not remember it. Default: false.
   */
  readonly reusable?: boolean | undefined
}

/** The times of a token that was opened. */
export interface TokenTimes {
  /** Milliseconds until the token expires, by the clock of the codec. */
  readonly ttlMs: number
  /** The start of the token's flow, in milliseconds since the epoch, as `seal` was given it. */
  readonly since: number
}

/** The context of a new token, and its lifetime. */
export interface SealOptions extends TokenContext {
  /**
   * The start of the token's flow, in milliseconds since the epoch. A flow is a series of tokens in which each token
   * continues the previous one. Default: now.
   */
  readonly since?: number | undefined
  /** The lifetime of this token in milliseconds. It replaces the `ttlMs` of the codec. */
  readonly ttlMs?: number | undefined
  /**
   * A token of this codec that was just opened, and whose value the new value replaces. A codec with a store deletes
   * the replaced value when the new token is opened, or otherwise 10 minutes from now. Until then the old token still
   * opens, because the response with the new token may be lost.
   */
  readonly replaces?: string | undefined
}

/** Options that every codec has. */
export interface CodecOptions {
  /**
   * The service that the tokens are for. It must be equal on all instances of the service, and different from the
   * audience of every other service with the same keys.
   */
  readonly audience?: string | undefined
  /** The lifetime of a token, in milliseconds. Default: one hour. */
  readonly ttlMs?: number | undefined
  /** The longest time in milliseconds from the start of a flow to the last use of its tokens. Default: 24 hours. */
  readonly maxAgeMs?: number | undefined
  /** The clock. Default: the clock of the platform. */
  readonly runtime?: Pick<Runtime, 'now'> | undefined
}

/** A key-value store. Each of its operations is atomic across all instances that share the store. */
export interface StateStore {
  /**
   * Adds a value that expires after `ttlMs` milliseconds. Returns `false` and changes nothing if the key has an
   * unexpired value.
   */
  add(key: string, value: string, ttlMs: number): Promise<boolean>
  /** Returns the unexpired value of a key, or undefined if there is none. */
  get(key: string): Promise<string | undefined>
  /** Deletes a key if it exists. */
  delete(key: string): Promise<void>
  /**
   * Makes a key expire after `ttlMs` milliseconds, unless it expires earlier anyway. Does nothing for an absent key. In
   * a store without this operation, a replaced value stays until the new value is read, or until the replaced value
   * expires.
   */
  expire?(key: string, ttlMs: number): Promise<void>
  /**
   * Returns a view of the store for one owner. Values that the view adds count against the quota of the owner, so that
   * one owner cannot fill the store for all others. When the quota is full, `add` rejects with a `StateError` with the
   * code `quota`. In a store without this operation, owners have no quotas.
   */
  forOwner?: ((owner: string) => StateStore) | undefined
}
