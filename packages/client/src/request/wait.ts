import { type Clock, offAbort, onAbort } from '@x/schema'

/** The limits of a wait: the caller's signal and a time. */
export interface WaitBounds {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
  readonly clock: Clock
  /** Returns the error of a wait whose time is over. */
  readonly late: () => Error
}

/** A time limit with a signal. */
export interface Wait {
  /** Aborts with the caller's reason, the timeout error, or the argument of `stop`. */
  readonly signal: AbortSignal
  stop(reason: unknown): void
  /** Releases the caller's signal and the timer. */
  close(): void
}

// The platforms' timers hold 31 bits: a longer time is as good as none.
const maxTimer = 2_147_483_647

/** Opens a {@link Wait}; its opener closes it. */
export function openWait({ signal, timeoutMs, clock, late }: WaitBounds): Wait {
  const controller = new AbortController()
  const cancel = (): void => controller.abort(signal?.reason)
  const isTimed = timeoutMs !== undefined && timeoutMs <= maxTimer
  const timer = isTimed ? clock.setTimeout(() => controller.abort(late()), timeoutMs) : undefined
  if (signal?.aborted) cancel()
  else if (signal) onAbort(signal, cancel)
  return {
    signal: controller.signal,
    stop: (reason) => controller.abort(reason),
    close: () => {
      if (isTimed) clock.clearTimeout(timer)
      if (signal) offAbort(signal, cancel)
    },
  }
}

/** Returns the promise's outcome, or rejects with the signal's reason when that comes first. */
export async function whileOpen<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let cancel = (): void => {}
  const stopped = new Promise<never>((_resolve, reject) => {
    cancel = () => reject(signal.reason)
  })
  // The promise that loses must not count as an unhandled rejection.
  const outcome = Promise.race([promise, stopped])
  if (signal.aborted) cancel()
  else onAbort(signal, cancel)
  try {
    return await outcome
  } finally {
    offAbort(signal, cancel)
  }
}
