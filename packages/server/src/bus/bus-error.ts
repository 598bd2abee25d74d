/** The codes of a {@link BusError}. */
export type BusProblem =
  /** The database or message broker cannot be reached, or took too long. */
  | 'unavailable'
  /** A change has more beside its topic than the bus carries. */
  | 'too_large'
  /** Something came over the channel that no bus of this kind has sent. */
  | 'unreadable'
  /** An option is mistaken. */
  | 'option'

/** A failed operation of a change bus, or an unreadable message on it. The text is for the log, not for a peer. */
export class BusError extends Error {
  override readonly name = 'BusError'
  readonly code: BusProblem

  constructor(code: BusProblem, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
  }
}

/** Wraps an error of the database or message broker in a {@link BusError}, whose message names it and the reason. */
export function busUnavailable(name: string, cause: unknown): BusError {
  if (cause instanceof BusError) return cause
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : 'no reason given'
  return new BusError('unavailable', `${name} cannot be reached: ${reason}`, { cause })
}
