import type { JsonValue, Runtime } from '@x/core'

/** Turns a JSON value into a URL-safe string that an untrusted peer may carry, and back. */
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
  /** How long a token of this codec can open at most, in milliseconds. */
  readonly lifetimeMs?: number | undefined
  /**
   * True if a token opens once, except with the option `reusable`. A server then opens a call's token only when it can
   * continue the call.
   */
  readonly opensOnce?: boolean | undefined
  /**
   * Resolves when the codec's store answers. A server calls it to find out whether it is ready. Absent in a codec
   * without a store.
   *
   * @throws StateError with `unavailable` when the store cannot be reached.
   */
  ping?(): Promise<void>
}

/** What a token is for. Except for `owner`, it must be equal when the token is sealed and when it is opened. */
export interface TokenContext {
  /**
   * What the token is for, 1 to 256 characters. The keys of a codec are derived from it, and readable tokens have it in
   * their header.
   */
  readonly purpose: string
  /**
   * Frequent member names in the values of this purpose, at most 50. `sealedState` leaves them out of its tokens, which
   * are shorter then. The list is a part of the token format: every instance must have the same names in the same
   * order, and a new name goes to the end.
   */
  readonly memberNames?: readonly string[] | undefined
  /** Service that the token is for, in place of the codec's `audience`. All its instances use the same name. */
  readonly audience?: string | undefined
  /**
   * What the token is bound to, such as a principal, a method and its arguments. It may be any JSON value. The token
   * contains only its digest.
   */
  readonly binding?: JsonValue | undefined
  /**
   * Owner of what a codec writes to its store, whose quota there limits it. It is not sealed into the token, so a
   * caller with another owner can open the token.
   */
  readonly owner?: string | undefined
}

/** How to open a token. */
export interface OpenOptions extends TokenContext {
  /**
   * Called by every codec before `open` resolves. A server takes from it when a call began, so a codec of your own must
   * call it too, or pass the options on to the codec that it wraps.
   */
  readonly onOpen?: ((times: TokenTimes) => void) | undefined
  /**
   * For a token that arrives with many requests, such as that of a session. A codec with keys may then keep decrypted
   * contents in memory, at most 512 of them. It checks the context at every opening. Default: false.
   */
  readonly cacheContent?: boolean | undefined
  /**
   * For a token that a peer sends again and again, such as the id of a session or of a task. `singleUseState` then
   * opens it like the wrapped codec, and does not remember it. Default: false.
   */
  readonly reusable?: boolean | undefined
}

/** Times of a token that was opened. */
export interface TokenTimes {
  /** Until the token expires, by the codec's clock. */
  readonly ttlMs: number
  /** When the token's flow began, in milliseconds since the epoch, as given to `seal`. */
  readonly since: number
}

/** Context and lifetime of a new token. */
export interface SealOptions extends TokenContext {
  /**
   * When the token's flow began, in milliseconds since the epoch. A flow is a series of tokens, each of which continues
   * the one before. Default: now.
   */
  readonly since?: number | undefined
  /** Lifetime of this token in milliseconds, in place of the codec's `ttlMs`. */
  readonly ttlMs?: number | undefined
  /**
   * A token of this codec that was just opened, and whose value the new one replaces. A codec with a store deletes the
   * replaced value when the new token is opened, or else in 10 minutes. Until then the old token still opens, because
   * the response with the new one may be lost.
   */
  readonly replaces?: string | undefined
}

/** Options that every codec has. */
export interface CodecOptions {
  /**
   * Service that the tokens are for: equal on all its instances, and different from the audience of every other service
   * with the same keys.
   */
  readonly audience?: string | undefined
  /** Lifetime of a token, in milliseconds. Default: one hour. */
  readonly ttlMs?: number | undefined
  /** Milliseconds from the start of a flow to the last use of its tokens. Default: 24 hours. */
  readonly maxAgeMs?: number | undefined
  /** Default: the platform's clock. */
  readonly runtime?: Pick<Runtime, 'now'> | undefined
}

/** Keys and values. Each operation is atomic across all instances that share the store. */
export interface StateStore {
  /**
   * Adds a value that expires after `ttlMs` milliseconds. Returns `false` and changes nothing if the key has an
   * unexpired value.
   */
  add(key: string, value: string, ttlMs: number): Promise<boolean>
  /** Undefined if the key has no unexpired value. */
  get(key: string): Promise<string | undefined>
  /** Deletes a key if it exists. */
  delete(key: string): Promise<void>
  /**
   * Makes a key expire after `ttlMs` milliseconds, unless it expires earlier anyway. Does nothing for an absent key. In
   * a store without this operation, a replaced value stays until the new one is read, or until it expires.
   */
  expire?(key: string, ttlMs: number): Promise<void>
  /**
   * A view of the store for one owner, whose quota limits what the view adds, so that no owner can fill the store for
   * all others. When the quota is full, `add` rejects with a `StateError` with the code `quota`. In a store without
   * this operation, owners have no quotas.
   */
  forOwner?: ((owner: string) => StateStore) | undefined
}
