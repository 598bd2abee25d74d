import { type Clock, Cancellation, type Cancellable, onCancel, offCancel } from '@x/core'
import { HttpError } from './http-error.ts'

/**
 * The milliseconds without a received byte after which a request ends. A server that answers with JSON sends nothing
 * before its handler has ended. So the limit must be longer than any handler should run, and only detects a lost
 * connection.
 */
const maxQuietMs = 30 * 60_000

/** The time limit of one request, and its cancellation. */
export interface TimeoutWatch {
  /** Cancelled if the request must stop for any reason. */
  readonly cancellation: Cancellation
  /** Restarts the time limit. Called when bytes have arrived. */
  recordActivity(): void
  /** Stops the request with this reason. */
  stop(reason: unknown): void
  /** Ends the time limit. Called when the request has ended. */
  end(): void
}

/** The call whose time is limited, and the parameters of the limit. */
export interface TimeoutWatchOptions {
  readonly call: Cancellable
  readonly clock: Clock
  readonly origin: string
  /** Called at once when the request is stopped, even if the platform aborts the request later. */
  readonly onStop: (reason: unknown) => void
}

/**
 * Starts the time limit of one request. It uses one timer, which checks the time of the last arrival when it fires. So
 * an arriving chunk sets no timer.
 */
export function startTimeoutWatch({ call, clock, origin, onStop }: TimeoutWatchOptions): TimeoutWatch {
  const cancellation = new Cancellation()
  let lastActivityAt = clock.monotonicNow()
  let timer: unknown

  const end = (): void => {
    offCancel(call, stop)
    clock.clearTimeout(timer)
    timer = undefined
  }
  const stop = (reason: unknown): void => {
    end()
    onStop(reason)
    cancellation.cancel(reason)
  }
  const armTimer = (): void => {
    const waitMs = lastActivityAt + maxQuietMs - clock.monotonicNow()
    if (waitMs > 0) timer = clock.setTimeout(armTimer, waitMs)
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
