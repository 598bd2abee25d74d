/** Why a token was not opened; for the operator's log. */
export type StateErrorCode =
  /** Not the form of a token of this codec: truncated, extended, encoded in another way, or made by another codec. */
  | 'malformed'
  /** Longer than the bound. */
  | 'too_large'
  /** Made with a key that is not in the ring: removed, or another instance has keys of its own. */
  | 'unknown_key'
  /** Altered, or made with another key that has the same id. */
  | 'forged'
  /** Past the time that the token was made for. */
  | 'expired'
  /** Made in the future: the clocks of the instances differ. */
  | 'not_yet'
  /** The flow has lasted longer than `maxAgeMs`. */
  | 'too_old'
  /** Made for another purpose. */
  | 'purpose'
  /** Made for another service. */
  | 'audience'
  /** Made for somebody or something else. */
  | 'binding'
  /** Opened before, and good for one use. */
  | 'used'
  /** Not in the store, or no longer. */
  | 'missing'
  /** The store could not be reached or is full. */
  | 'unavailable'

/**
 * A token that is not to be believed.
 *
 * `message` is the same whatever is wrong and may be shown to a peer; `code`, `detail` and `cause` are for the log.
 */
export class StateError extends Error {
  override readonly name = 'StateError'
  readonly code: StateErrorCode
  /** What was wrong, in a sentence without the token, the value or a key. */
  readonly detail: string

  constructor(code: StateErrorCode, detail: string, options: { readonly cause?: unknown } = {}) {
    super('Invalid or expired state', options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = detail
  }
}

/** Whether a value is a {@link StateError}, from this copy of the package or another. */
export function isStateError(error: unknown): error is StateError {
  return error instanceof Error && error.name === 'StateError' && 'code' in error && 'detail' in error
}

/** What the program that uses a codec did wrong. */
export type StateUsageCode =
  /** An option or a claim is mistaken. */
  | 'configuration'
  /** A key is missing, too short, or not random. */
  | 'key'
  /** A value holds what JSON cannot carry. */
  | 'not_json'
  /** A value makes a token beyond the bound. */
  | 'too_large'

/** A mistake in the program or its configuration; the message names it, and is not meant for a peer. */
export class StateUsageError extends Error {
  override readonly name = 'StateUsageError'
  readonly code: StateUsageCode

  constructor(code: StateUsageCode, message: string) {
    super(message)
    this.code = code
  }
}
