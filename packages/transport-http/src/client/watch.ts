import {
  type Cancellable,
  type Cancellation,
  cancel as cancelRequest,
  cancelReason,
  type Clock,
  createCancellation,
  offCancel,
  onCancel,
} from '@x/schema'
import { HttpError } from './http-error.ts'
import type { HttpTimeouts } from './options.ts'

const halfAnHour = 30 * 60_000

/** The limits and the end of one request. */
export interface Watch {
  /** Cancelled when the request must stop, for whatever reason. */
  readonly cancellation: Cancellation
  /** Bytes arrived: the idle limit counts from here, and no longer the one for headers. */
  touch(): void
  /** Stops the request with this reason. */
  stop(reason: unknown): void
  /** The request is over: nothing fires after this. */
  end(): void
}

/** The call and the limits that a watch observes. */
export interface WatchOptions {
  readonly call: Cancellable
  readonly timeouts: HttpTimeouts
  readonly clock: Clock
  readonly origin: string
  /** Told at once, even where the platform takes its time to abort. */
  readonly onStop: (reason: unknown) => void
}

/**
 * Watches over one request with a single timer, which looks when it fires how far the limits have moved: arrivals cost
 * a reading of the clock, and no timer is set anew.
 */
export function startWatch({ call, timeouts, clock, origin, onStop }: WatchOptions): Watch {
  const { headersMs = halfAnHour, idleMs = halfAnHour, totalMs = 0 } = timeouts
  const cancellation = createCancellation()
  const started = clock.now()
  let last = started
  let limit = headersMs
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
  const cancel = (): void => stop(cancelReason(call))
  const arm = (): void => {
    const now = clock.now()
    const quiet = limit > 0 ? last + limit - now : Number.POSITIVE_INFINITY
    const total = totalMs > 0 ? started + totalMs - now : Number.POSITIVE_INFINITY
    const wait = Math.min(quiet, total)
    if (wait <= 0) stop(httpTimeoutError(total <= 0 ? totalMs : limit, total <= 0, origin))
    else if (wait !== Number.POSITIVE_INFINITY) timer = clock.setTimeout(arm, Math.min(wait, maxTimer))
  }
  onCancel(call, cancel)
  arm()
  return {
    cancellation,
    touch: () => {
      last = clock.now()
      // The limit in force when the timer was set may be longer than the one from here on.
      if (limit !== idleMs) {
        limit = idleMs
        clock.clearTimeout(timer)
        arm()
      }
    },
    stop,
    end,
  }
}

// The platforms' timers hold 31 bits.
const maxTimer = 2_147_483_647

function httpTimeoutError(ms: number, isTotal: boolean, origin: string): HttpError {
  const what = isTotal ? `no response within ${ms} ms` : `nothing came for ${ms} ms`
  return new HttpError('timeout', `${origin}: ${what}`, { origin })
}
