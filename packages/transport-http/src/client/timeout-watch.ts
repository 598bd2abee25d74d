import { type Clock, Cancellation, type Cancellable, onCancel, offCancel, startTimeLimit } from '@x/core'
import { HttpError } from './http-error.ts'

/**
 * Milliseconds without a received byte after which a request ends. A server that answers with JSON sends nothing before
 * its handler has ended, so the limit must be longer than any handler should run, and only detects a lost connection.
 */
const maxQuietMs = 30 * 60_000

/** One request's time limit, and its cancellation. */
export interface TimeoutWatch {
  /** Cancelled if the request must stop for any reason. */
  readonly cancellation: Cancellation
  /** Restarts the time limit, because bytes have arrived. */
  recordActivity(): void
  stop(reason: unknown): void
  /** Ends the time limit, because the request has ended. */
  end(): void
}

/**
 * Starts one request's time limit. Its one timer checks the time of the last arrival when it fires, so an arriving
 * chunk sets no timer. `onStop` is called at once when the request is stopped, even if the platform aborts it later.
 */
export function startTimeoutWatch(
  call: Cancellable,
  { clock, origin }: { readonly clock: Clock; readonly origin: string },
  onStop: (reason: unknown) => void,
): TimeoutWatch {
  const cancellation = new Cancellation()
  let lastActivityAt = clock.monotonicNow()
  let stopTimer = (): void => {}

  const end = (): void => {
    offCancel(call, stop)
    stopTimer()
  }
  const stop = (reason: unknown): void => {
    end()
    onStop(reason)
    cancellation.cancel(reason)
  }
  const armTimer = (): void => {
    const waitMs = lastActivityAt + maxQuietMs - clock.monotonicNow()
    if (waitMs > 0) stopTimer = startTimeLimit(armTimer, waitMs, clock)
    else stop(new HttpError('timeout', `nothing came for ${maxQuietMs} ms`, { origin }))
  }
  onCancel(call, stop)
  armTimer()
  return {
    cancellation,
    recordActivity: () => {
      lastActivityAt = clock.monotonicNow()
    },
    stop,
    end,
  }
}
