import { type Clock, offAbort, onAbort } from '@x/schema'

/** Waits for a number of milliseconds; rejects with the reason of a signal that aborts earlier. */
export function sleepUntil(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  if (ms <= 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const cut = (): void => {
      clock.clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = clock.setTimeout(() => {
      offAbort(signal, cut)
      resolve()
    }, ms)
    if (signal.aborted) cut()
    else onAbort(signal, cut)
  })
}
