import { isMissingModuleError } from '../import-peer-dependency.ts'
import type { JsonObject } from '../json.ts'
import type { Log } from '../log.ts'

/** Something has changed, and receivers must read their copies of it again. */
export interface Change {
  /** What has changed, such as `tools`, or `resource:file:///a.txt`. Two changes of one topic count as one. */
  readonly topic: string
  /** More for the listeners. It must be small, and every instance can read it. Absent for most topics. */
  readonly data?: JsonObject | undefined
}

/** Listens to a bus. */
export interface ChangeListener {
  /** Receives each change that any instance publishes. */
  readonly onChange: (change: Change) => void
  /**
   * Called when changes may have been lost, for example while the connection was closed. Everything may have changed.
   */
  readonly onGap: () => void
}

/**
 * Carries a change from the instance that publishes it to every instance that listens: promptly, and at most once. When
 * changes may have been lost, `onGap` is called.
 */
export interface ChangeBus {
  /**
   * Sends a change to every listener of every instance, also of this one. Rejects when the bus did not accept the
   * change.
   */
  publish(change: Change): Promise<void>
  /**
   * Adds a listener. Resolves, with a function that removes it, once every later change will reach it. Rejects when the
   * bus cannot be reached.
   */
  listen(listener: ChangeListener): Promise<() => void>
  /**
   * Makes a round trip to the database or message broker, and rejects when that cannot be reached. A bus without this
   * function is never checked.
   */
  ping?(): Promise<void>
  /** The server that gets the bus calls this with its log. The bus then reports there, unless it has a log of its own. */
  useLog?(log: Log): void
}

/** Codes of a {@link BusError}. */
export type BusErrorCode =
  /** The database or message broker cannot be reached, or took too long. */
  | 'unavailable'
  /** A change's `data` is larger than the bus can carry, or nested deeper than 32 levels. */
  | 'too_large'
  /** A message on the channel has a form that no bus of this kind sends. */
  | 'unreadable'

/** A change bus failed, or got an unreadable message. The text is for the log, not for a peer. */
export class BusError extends Error {
  override readonly name = 'BusError'
  readonly code: BusErrorCode

  constructor(code: BusErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
  }
}

/** True for a {@link BusError}, also one of another copy of this package. */
export function isBusError(error: unknown): error is BusError {
  return error instanceof Error && error.name === 'BusError' && 'code' in error
}

/**
 * Wraps an error of the database or message broker, and names that and the reason. A missing package is returned as it
 * is, because no later attempt will succeed.
 */
export function busUnavailableError(name: string, cause: unknown): Error {
  if (isBusError(cause) || isMissingModuleError(cause)) return cause
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : 'no reason given'
  return new BusError('unavailable', `${name} cannot be reached: ${reason}`, { cause })
}
