import { type Clock, offAbort, onAbort } from '@x/core'

/** Waits for a number of milliseconds; rejects with the reason of a signal that aborts earlier. */
export function sleepFor(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  if (ms <= 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const abortSleep = (): void => {
      clock.clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = clock.setTimeout(() => {
      offAbort(signal, abortSleep)
      resolve()
    }, ms)
    if (signal.aborted) abortSleep()
    else onAbort(signal, abortSleep)
  })
}
