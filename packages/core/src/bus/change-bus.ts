import type { JsonObject } from '../json.ts'

/** A notice that something has changed: copies of it have to be read again. */
export interface Change {
  /** The changed topic, such as `tools`, or `resource:file:///a.txt`. Two changes of one topic count as one. */
  readonly topic: string
  /** Data beside the topic: small, and public to every instance. Absent for most topics. */
  readonly data?: JsonObject | undefined
}

/** A listener of a bus. */
export interface ChangeListener {
  /** Receives a change of any instance. */
  readonly onChange: (change: Change) => void
  /** Changes may have been lost, for example while the connection was closed: everything may have changed. */
  readonly onGap: () => void
}

/**
 * Carries a change from the instance that publishes it to every instance that has streams open. Delivery is prompt, and
 * at most once. When changes may have been lost, the bus calls `onGap`.
 */
export interface ChangeBus {
  /**
   * Notifies every listener of every instance, this one included. Rejects when the change could not be delivered to the
   * bus.
   */
  publish(change: Change): Promise<void>
  /**
   * Listens until the function that it resolves with is called. When it resolves, every change that is published from
   * then on will come. Rejects when the bus cannot be reached.
   */
  listen(listener: ChangeListener): Promise<() => void>
  /** Makes a round trip to the database or message broker. Rejects when it cannot be reached. Absent: not checked. */
  ping?(): Promise<void>
}

/** The codes of a {@link BusError}. */
export type BusErrorCode =
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
  readonly code: BusErrorCode

  constructor(code: BusErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
  }
}

/** Wraps an error of the database or message broker in a {@link BusError}, whose message names it and the reason. */
export function busUnavailableError(name: string, cause: unknown): BusError {
  if (cause instanceof BusError) return cause
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : 'no reason given'
  return new BusError('unavailable', `${name} cannot be reached: ${reason}`, { cause })
}
