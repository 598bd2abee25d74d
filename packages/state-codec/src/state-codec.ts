import type { JsonValue, Runtime } from '@x/core'

/** Converts between a JSON value and a URL-safe string that an untrusted peer may carry. */
export interface StateCodec {
  /**
   * Seals a value into a token.
   *
   * @throws StateUsageError when the value is not JSON or is too large, and when the claims are invalid.
   * @throws StateError with `too_old` when the flow exceeds its age, with `unavailable` when a store cannot be reached.
   */
  seal(value: JsonValue, claims: SealClaims): Promise<string>
  /**
   * Opens a token and returns its value when the claims equal those of sealing.
   *
   * @throws StateError for every token that must not be trusted. Its `code` is for the operator alone.
   */
  open(token: string, claims: OpenOptions): Promise<JsonValue>
  /** The longest time in milliseconds during which a token of this codec can open. */
  readonly lifetimeMs?: number | undefined
  /**
   * Resolves when the store of the codec answers, for the readiness of a server. Absent in a codec without a store.
   *
   * @throws StateError with `unavailable` when the store cannot be reached.
   */
  ping?(): Promise<void>
}

/** The claims that opening a token repeats. */
export interface OpenClaims {
  /**
   * The purpose of the token, 1 to 256 characters. Keys are derived from it, and readable tokens show it in their
   * header.
   */
  readonly purpose: string
  /**
   * Names that the values of this purpose often have as members, at most 50: `sealedState` writes the values without
   * them. The list is a part of the format: every instance has the same names in the same order, and a new name is
   * added at the end.
   */
  readonly memberNames?: readonly string[] | undefined
  /** The service that the token is for, in place of the codec's own. A name that all instances share. */
  readonly audience?: string | undefined
  /** The context that the token belongs to (a principal, a method, its arguments): any JSON, compared by its digest. */
  readonly binding?: JsonValue | undefined
  /**
   * The party on whose behalf a codec with a store writes to it. Its quota limits what it may keep there. It is not
   * sealed, and another owner may open the token.
   */
  readonly owner?: string | undefined
}

/** The options for opening a token. */
export interface OpenOptions extends OpenClaims {
  /**
   * Called with the time that the token has left, in milliseconds by the codec's clock, before `open` resolves:
   * `singleUseState` remembers a use for so long. Where a codec does not call it, a use is remembered for `lifetimeMs`.
   */
  readonly onTtl?: ((ttlMs: number) => void) | undefined
  /**
   * True for a token that comes with many requests, such as that of a session: a codec with keys may keep its decrypted
   * content in memory, 512 contents at most, and checks the claims at every opening. Default: false.
   */
  readonly cacheContent?: boolean | undefined
}

/** The claims that a token is sealed with. */
export interface SealClaims extends OpenClaims {
  /** The start of the flow that the token belongs to, in milliseconds since the epoch. Default: now. */
  readonly since?: number | undefined
  /** The lifetime of this token in milliseconds, in place of the codec's own. */
  readonly ttlMs?: number | undefined
  /**
   * A token of this codec, just opened, whose value this one replaces. A codec with a store deletes the replaced value
   * once the new token is opened, and otherwise 10 minutes from now: until then the answer with the new token may be
   * lost, and the old one come again.
   */
  readonly replaces?: string | undefined
}

/** Options that every codec has. */
export interface ClaimOptions {
  /**
   * The service that the tokens are for: equal on all its instances, and different on every other service with the same
   * keys.
   */
  readonly audience?: string | undefined
  /** The lifetime of a token, in milliseconds. Default: one hour. */
  readonly ttlMs?: number | undefined
  /** The longest duration of a flow over all of its tokens, in milliseconds. Default: 24 hours. */
  readonly maxAgeMs?: number | undefined
  /** Default: the platform's. */
  readonly runtime?: Pick<Runtime, 'now'> | undefined
}

/** A key-value store whose operations are each atomic over all instances that share the store. */
export interface StateStore {
  /**
   * Adds a value for a time in milliseconds. Returns `false` and changes nothing when the key has an unexpired value.
   */
  add(key: string, value: string, ttlMs: number): Promise<boolean>
  /** Returns the unexpired value of a key. */
  get(key: string): Promise<string | undefined>
  /** Deletes a key if it exists. */
  delete(key: string): Promise<void>
  /**
   * Lets a key expire in some milliseconds, unless it does so earlier. A key that is not there stays so. Without this
   * operation a value that was replaced stays until its successor is read, or until it expires.
   */
  expire?(key: string, ttlMs: number): Promise<void>
  /**
   * Returns the same store for one owner: what it adds counts against the owner's quota, so that no owner fills the
   * store for all others. `add` rejects with a `StateError` `quota` when the owner has as much as one may have. Without
   * this operation owners share one store without limits of their own.
   */
  forOwner?: ((owner: string) => StateStore) | undefined
}
