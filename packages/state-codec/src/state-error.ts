/** The reason why a token was rejected, for the operator's log. */
export type StateErrorCode =
  /** Not a token of this codec: truncated, extended, in another encoding, or made by another codec. */
  | 'malformed'
  /** Longer than the limit. */
  | 'too_large'
  /** Made with a key that is not in the ring: it was removed, or another instance has other keys. */
  | 'unknown_key'
  /** Altered, or made with another key that has the same id. A sealed token also when made for another purpose. */
  | 'forged'
  /** Expired. */
  | 'expired'
  /** Made in the future: the clocks of the instances differ. */
  | 'not_yet'
  /** The flow has lasted longer than `maxAgeMs`. */
  | 'too_old'
  /** Made for another purpose. */
  | 'purpose'
  /** Made for another service. */
  | 'audience'
  /** Bound to another principal, target or argument. */
  | 'binding'
  /** The token was opened before. A token of a single-use codec opens once. */
  | 'used'
  /** Not in the store, or expired there. */
  | 'missing'
  /** The store is full or cannot be reached. */
  | 'unavailable'
  /** The owner's quota in the store is full. `quota` names its kind. */
  | 'quota'

/** The quota that an owner has reached. */
export interface StateQuota {
  /** The kind of the ledger: `states` for values, `bytes` for their characters. `detail` names the option. */
  readonly limit: 'states' | 'bytes'
  readonly max: number
}

/** The parts of a {@link StateError} beside its code and detail. */
export interface StateErrorOptions {
  readonly cause?: unknown
  readonly retryAfterMs?: number | undefined
  readonly quota?: StateQuota | undefined
}

/**
 * A token was rejected.
 *
 * `message` may be sent to a peer: it is the same for every reason that concerns the token, and another one where the
 * store alone failed. `code`, `detail` and `cause` are for the log.
 */
export class StateError extends Error {
  override readonly name = 'StateError'
  readonly code: StateErrorCode
  /** A description of the failure without the token, the value or a key. */
  readonly detail: string
  /**
   * Milliseconds until another attempt may succeed, where that is known: for a full store, or a full quota of an owner.
   */
  readonly retryAfterMs: number | undefined
  /** The quota that was reached, with the code `quota`. */
  readonly quota: StateQuota | undefined

  constructor(code: StateErrorCode, detail: string, options: StateErrorOptions = {}) {
    super(messageOf(code), options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = detail
    this.retryAfterMs = options.retryAfterMs
    this.quota = options.quota
  }
}

function messageOf(code: StateErrorCode): string {
  if (code === 'unavailable') return 'The state store is unavailable'
  return code === 'quota' ? 'The quota of the state store is reached' : 'Invalid or expired state'
}

/** Returns true for a {@link StateError}, from this copy of the package or another. */
export function isStateError(error: unknown): error is StateError {
  return error instanceof Error && error.name === 'StateError' && 'code' in error && 'detail' in error
}

/** The mistake that a program made in its use of a codec. */
export type StateUsageCode =
  /** An option or a claim is invalid. */
  | 'configuration'
  /** A key is missing, too short, or not random. */
  | 'key'
  /** A value contains something that JSON cannot carry. */
  | 'not_json'
  /** A value makes a token beyond the limit. */
  | 'too_large'

/** A mistake in the program or its configuration. The message describes it and is not meant for a peer. */
export class StateUsageError extends Error {
  override readonly name = 'StateUsageError'
  readonly code: StateUsageCode

  constructor(code: StateUsageCode, message: string) {
    super(message)
    this.code = code
  }
}
