/** What can go wrong on a bus. */
export type BusProblem =
  /** What carries the bus cannot be reached, or took too long. */
  | 'unavailable'
  /** A change has more beside its topic than the bus carries. */
  | 'too_large'
  /** Something came over the channel that no bus of this kind has sent. */
  | 'unreadable'
  /** An option is mistaken. */
  | 'option'

/** A bus that could not do what it was asked to, or was told what it cannot read; the message is for the log, not for a peer. */
export class BusError extends Error {
  override readonly name = 'BusError'
  readonly code: BusProblem

  constructor(code: BusProblem, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
  }
}

/** An error of what carries a bus as a {@link BusError}, whose message names the carrier and tells the reason. */
export function unavailable(name: string, cause: unknown): BusError {
  if (cause instanceof BusError) return cause
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : 'no reason given'
  return new BusError('unavailable', `${name} cannot be reached: ${reason}`, { cause })
}
