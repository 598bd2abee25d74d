import { type Clock, offAbort, onAbort } from '@x/core'

/** The limits of a wait: the caller's signal and a time. */
export interface AbortScopeOptions {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
  readonly clock: Clock
  /** Returns the error of a wait whose time is over. */
  readonly late: () => Error
}

/** A time limit with a signal. */
export interface AbortScope {
  /** Aborts with the caller's reason, the timeout error, or the argument of `stop`. */
  readonly signal: AbortSignal
  stop(reason: unknown): void
  /** Releases the caller's signal and the timer. */
  close(): void
}

// The platforms' timers hold 31 bits: a longer time is as good as none.
const maxTimerMs = 2_147_483_647

/** Opens a {@link AbortScope}; its opener closes it. */
export function openAbortScope({ signal, timeoutMs, clock, late }: AbortScopeOptions): AbortScope {
  const controller = new AbortController()
  const onSignalAbort = (): void => controller.abort(signal?.reason)
  const hasTimer = timeoutMs !== undefined && timeoutMs <= maxTimerMs
  const timer = hasTimer ? clock.setTimeout(() => controller.abort(late()), timeoutMs) : undefined
  if (signal?.aborted) onSignalAbort()
  else if (signal) onAbort(signal, onSignalAbort)
  return {
    signal: controller.signal,
    stop: (reason) => controller.abort(reason),
    close: () => {
      if (hasTimer) clock.clearTimeout(timer)
      if (signal) offAbort(signal, onSignalAbort)
    },
  }
}

/** Returns the promise's outcome, or rejects with the signal's reason when that comes first. */
export async function raceWithAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onSignalAbort = (): void => {}
  const abortPromise = new Promise<never>((_resolve, reject) => {
    onSignalAbort = () => reject(signal.reason)
  })
  // The promise that loses must not count as an unhandled rejection.
  const outcome = Promise.race([promise, abortPromise])
  if (signal.aborted) onSignalAbort()
  else onAbort(signal, onSignalAbort)
  try {
    return await outcome
  } finally {
    offAbort(signal, onSignalAbort)
  }
}
