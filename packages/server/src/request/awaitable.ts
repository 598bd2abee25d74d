/** A value, or a promise of it: handlers may be written either way. */
export type Awaitable<T> = T | PromiseLike<T>

/** Returns whether a value has to be awaited. No JSON value has, because a function is not JSON. */
export function isPromiseLike<T>(value: Awaitable<T>): value is PromiseLike<T> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return 'then' in value && typeof value.then === 'function'
}

/** Continues with a value: at once when it is there already, so that a synchronous handler costs no tick. */
export function after<T, R>(value: Awaitable<T>, proceed: (value: T) => Awaitable<R>): Awaitable<R> {
  // A thenable of an author's may return nothing from its `then`.
  return isPromiseLike(value) ? Promise.resolve(value).then((result) => proceed(result)) : proceed(value)
}
