import { offAbort, onAbort } from '@x/schema'

/** What a promise brings, or the reason of a signal that aborts before; the promise goes on for others. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const abort = (): void => reject(signal.reason)
    onAbort(signal, abort)
    promise.then(resolve, reject).finally(() => offAbort(signal, abort))
  })
}
