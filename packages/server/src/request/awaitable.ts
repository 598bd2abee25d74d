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
