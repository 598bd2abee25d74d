import {
  type Cancellable,
  type Cancellation,
  cancel as cancelRequest,
  abortReasonOf,
  type Clock,
  createCancellation,
  offCancel,
  onCancel,
} from '@x/core'
import { HttpError } from './http-error.ts'

/**
 * Milliseconds without a received byte after which a request ends. A server that answers in JSON sends nothing until
 * its handler has ended, so that the limit is longer than a handler should run. It still ends a lost connection.
 */
const maxQuietMs = 30 * 60_000

/** The time limit of one request, and its cancellation. */
export interface TimeoutWatch {
  /** Cancelled when the request must stop, for any reason. */
  readonly cancellation: Cancellation
  /** Restarts the time limit, because bytes arrived. */
  recordActivity(): void
  /** Stops the request with this reason. */
  stop(reason: unknown): void
  /** Ends the watch, because the request has ended. */
  end(): void
}

/** The call that a watch observes. */
export interface TimeoutWatchOptions {
  readonly call: Cancellable
  readonly clock: Clock
  readonly origin: string
  /** Called at once when the request is stopped, even if the platform aborts it later. */
  readonly onStop: (reason: unknown) => void
}

/**
 * Starts the time limit of one request. It has a single timer, which checks the time of the last arrival when it fires.
 * So an arrival reads the clock and sets no timer.
 */
export function startTimeoutWatch({ call, clock, origin, onStop }: TimeoutWatchOptions): TimeoutWatch {
  const cancellation = createCancellation()
  let lastActivityAt = clock.monotonicNow()
  let timer: unknown

  const end = (): void => {
    offCancel(call, cancel)
    clock.clearTimeout(timer)
    timer = undefined
  }
  const stop = (reason: unknown): void => {
    end()
    onStop(reason)
    cancelRequest(cancellation, reason)
  }
  const cancel = (): void => stop(abortReasonOf(call))
  const armTimer = (): void => {
    const waitMs = lastActivityAt + maxQuietMs - clock.monotonicNow()
    if (waitMs > 0) timer = clock.setTimeout(armTimer, waitMs)
    else stop(new HttpError('timeout', `nothing came for ${maxQuietMs} ms`, { origin }))
  }
  onCancel(call, cancel)
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
