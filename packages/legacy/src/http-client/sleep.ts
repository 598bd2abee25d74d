import { type Clock, offAbort, onAbort } from '@x/core'

/** Waits so many milliseconds; rejects with the reason of a signal that aborts before. */
export function sleep(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const rejectOnAbort = (): void => {
      clock.clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = clock.setTimeout(() => {
      offAbort(signal, rejectOnAbort)
      resolve()
    }, ms)
    if (signal.aborted) rejectOnAbort()
    else onAbort(signal, rejectOnAbort)
  })
}
