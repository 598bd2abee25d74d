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
 * Milliseconds without a byte after which a request ends. A server that answers in JSON is silent until it has its
 * answer, so that this is longer than any call without progress, and still ends a connection that was lost.
 */
const maxQuietMs = 30 * 60_000

/** The limits and the end of one request. */
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
  /** Called at once, even where the platform aborts later. */
  readonly onStop: (reason: unknown) => void
}

/**
 * Watches over one request with a single timer, which looks when it fires how far the limits have moved: arrivals cost
 * a reading of the clock, and no timer is set anew.
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
