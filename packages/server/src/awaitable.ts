/** A value, or a promise of it: handlers may be written either way. */
export type Awaitable<T> = T | PromiseLike<T>

/** Whether a value has to be awaited. No JSON value does, because a function is not JSON. */
export function isPromiseLike<T>(value: Awaitable<T>): value is PromiseLike<T> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return 'then' in value && typeof value.then === 'function'
}

/** Goes on with a value: at once when it is there already, so that a synchronous handler costs no turn of the loop. */
export function after<T, R>(value: Awaitable<T>, proceed: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPromiseLike(value) ? value.then((result) => proceed(result)) : proceed(value)
}

/**
 * What the promise brings, or a rejection with `signal.reason` as soon as the signal aborts: a handler that ignores
 * the signal holds nobody up. What the promise does after that is dropped.
 */
export function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(
      (value) => {
        signal.removeEventListener('abort', abort)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', abort)
        reject(error)
      },
    )
    if (signal.aborted) abort()
  })
}
