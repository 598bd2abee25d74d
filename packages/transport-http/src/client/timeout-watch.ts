import {
  type Cancellable,
  type Cancellation,
  cancel as cancelRequest,
  abortReasonOf,
  type Clock,
  createCancellation,
  maxTimerMs,
  offCancel,
  onCancel,
} from '@x/core'
import { HttpError } from './http-error.ts'
import type { HttpTimeouts } from './options.ts'

const defaultIdleMs = 30 * 60_000

/** The limits and the end of one request. */
export interface TimeoutWatch {
  /** Cancelled when the request must stop, for any reason. */
  readonly cancellation: Cancellation
  /** Bytes arrived: the idle limit counts from here, and no longer the one for headers. */
  recordActivity(): void
  /** Stops the request with this reason. */
  stop(reason: unknown): void
  /** The request is over: nothing fires after this. */
  end(): void
}

/** The call and the limits that a watch observes. */
export interface TimeoutWatchOptions {
  readonly call: Cancellable
  readonly timeouts: HttpTimeouts
  readonly clock: Clock
  readonly origin: string
  /** Called at once, even where the platform aborts later. */
  readonly onStop: (reason: unknown) => void
}

/**
 * Watches over one request with a single timer, which looks when it fires how far the limits have moved: arrivals cost
 * a reading of the clock, and no timer is set anew.
 */
export function startTimeoutWatch({ call, timeouts, clock, origin, onStop }: TimeoutWatchOptions): TimeoutWatch {
  const { headersMs = defaultIdleMs, idleMs = defaultIdleMs, totalMs = 0 } = timeouts
  const cancellation = createCancellation()
  const startedAt = clock.monotonicNow()
  let lastActivityAt = startedAt
  let idleLimitMs = headersMs
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
    const now = clock.monotonicNow()
    const quietMsLeft = idleLimitMs > 0 ? lastActivityAt + idleLimitMs - now : Number.POSITIVE_INFINITY
    const totalMsLeft = totalMs > 0 ? startedAt + totalMs - now : Number.POSITIVE_INFINITY
    const waitMs = Math.min(quietMsLeft, totalMsLeft)
    if (waitMs <= 0) stop(httpTimeoutError(totalMsLeft <= 0 ? totalMs : idleLimitMs, totalMsLeft <= 0, origin))
    else if (waitMs !== Number.POSITIVE_INFINITY) timer = clock.setTimeout(armTimer, Math.min(waitMs, maxTimerMs))
  }
  onCancel(call, cancel)
  armTimer()
  return {
    cancellation,
    recordActivity: () => {
      lastActivityAt = clock.monotonicNow()
      // The limit in force when the timer was set may be longer than the one from here on.
      if (idleLimitMs !== idleMs) {
        idleLimitMs = idleMs
        clock.clearTimeout(timer)
        armTimer()
      }
    },
    stop,
    end,
  }
}

function httpTimeoutError(timeoutMs: number, isTotalTimeout: boolean, origin: string): HttpError {
  const problem = isTotalTimeout ? `no response within ${timeoutMs} ms` : `nothing came for ${timeoutMs} ms`
  return new HttpError('timeout', problem, { origin })
}
