/** Why a token was rejected, for the operator's log. */
export type StateErrorCode =
  /**
   * The text is not a token of this codec. It is truncated, extended or in another encoding, or another codec made it.
   */
  | 'malformed'
  /** The token is longer than the limit. */
  | 'too_large'
  /**
   * The token was made with a key that this instance does not have. The key was removed, or another instance has other
   * keys.
   */
  | 'unknown_key'
  /**
   * The token was altered, or made with another key that has the same id. For a sealed token, it may also have been
   * made for another purpose.
   */
  | 'forged'
  /** The token has expired. */
  | 'expired'
  /** The token was made in the future, because the clocks of the instances differ. */
  | 'not_yet'
  /** The flow has lasted longer than `maxAgeMs`. */
  | 'too_old'
  /** The token was made for another purpose. */
  | 'purpose'
  /** The token was made for another service. */
  | 'audience'
  /** The token is bound to another principal, target or argument. */
  | 'binding'
  /** The token was opened before, and its codec opens each token only once. */
  | 'used'
  /** The store does not contain the value, or the value has expired there. */
  | 'missing'
  /** The store is full or cannot be reached. */
  | 'unavailable'
  /** The owner's quota in the store is full. `StateError.quota` names the kind of the quota. */
  | 'quota'

/** Which quota an owner has reached. */
export interface StateQuota {
  /**
   * Kind of the quota in the ledger: `states` limits how many values there are, and `bytes` how many characters they
   * have. The `detail` of the error names the option of the store.
   */
  readonly limit: 'states' | 'bytes'
  readonly max: number
}

/** What a {@link StateError} has beside its code and detail. */
export interface StateErrorOptions {
  readonly cause?: unknown
  readonly retryAfterMs?: number | undefined
  readonly quota?: StateQuota | undefined
}

/**
 * A token was rejected, or a store failed.
 *
 * `message` may be sent to a peer. It is the same for every problem of a token, and differs only for a problem of the
 * store. `code`, `detail` and `cause` are for the log.
 */
export class StateError extends Error {
  override readonly name = 'StateError'
  readonly code: StateErrorCode
  /** Describes the failure, without the token, the value or a key. */
  readonly detail: string
  /**
   * Milliseconds until another attempt may succeed. Present only for a full store or a full quota of an owner, if the
   * time is known.
   */
  readonly retryAfterMs: number | undefined
  /** Which quota was reached. Present only with the code `quota`. */
  readonly quota: StateQuota | undefined

  constructor(code: StateErrorCode, detail: string, options: StateErrorOptions = {}) {
    super(publicMessageOf(code), options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = detail
    this.retryAfterMs = options.retryAfterMs
    this.quota = options.quota
  }
}

function publicMessageOf(code: StateErrorCode): string {
  if (code === 'unavailable') return 'The state store is unavailable'
  return code === 'quota' ? 'The quota of the state store is reached' : 'Invalid or expired state'
}

/** True for a {@link StateError}, also one of another copy of this package. */
export function isStateError(error: unknown): error is StateError {
  return error instanceof Error && error.name === 'StateError' && 'code' in error && 'detail' in error
}

/** What a program did wrong with a codec. */
export type StateUsageErrorCode =
  /** An option, or a part of the context that the program gave, is invalid. */
  | 'configuration'
  /** A key is missing, too short, or not random. */
  | 'key'
  /** A value contains something that JSON cannot carry. */
  | 'not_json'
  /** A value would make a token that exceeds the limit. */
  | 'too_large'

/** The program or its configuration is wrong. The message describes the mistake, and must not be sent to a peer. */
export class StateUsageError extends Error {
  override readonly name = 'StateUsageError'
  readonly code: StateUsageErrorCode

  constructor(code: StateUsageErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** True for a {@link StateUsageError}, also one of another copy of this package. */
export function isStateUsageError(error: unknown): error is StateUsageError {
  return error instanceof Error && error.name === 'StateUsageError' && 'code' in error
}
