import { type Cancellable, cancelReason, isCancelled, offCancel, onCancel } from '@x/schema'

/** What a promise brings, or the reason for which a call is cancelled before; the promise goes on for others. */
export function unlessCancelled<T>(promise: Promise<T>, call: Cancellable): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(cancelReason(call))
    if (isCancelled(call)) return stop()
    onCancel(call, stop)
    promise.then(resolve, reject).finally(() => offCancel(call, stop))
  })
}
