import { type Clock, offAbort, onAbort } from '@x/schema'

/** What ends a wait: the caller, or the clock. */
export interface WaitBounds {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
  readonly clock: Clock
  /** What the wait ends with when its time is over. */
  readonly late: () => Error
}

/** A stretch of time that a signal stands for. */
export interface Wait {
  /** Aborts with the caller's reason, the error of lateness, or what `stop` was given. */
  readonly signal: AbortSignal
  stop(reason: unknown): void
  /** Lets go of the caller's signal and of the clock. */
  close(): void
}

// The platforms' timers hold 31 bits: a longer time is as good as none.
const maxTimer = 2_147_483_647

/** Opens a {@link Wait}; who opens one closes it. */
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

/** The promise's outcome, or the signal's reason when that comes first. */
export async function whileOpen<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let cancel = (): void => {}
  const stopped = new Promise<never>((_resolve, reject) => {
    cancel = () => reject(signal.reason)
  })
  // Whichever of the two is not waited for any more must not count as unhandled.
  const outcome = Promise.race([promise, stopped])
  if (signal.aborted) cancel()
  else onAbort(signal, cancel)
  try {
    return await outcome
  } finally {
    offAbort(signal, cancel)
  }
}
