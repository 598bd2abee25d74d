/** A value, or a promise of it: handlers may be written either way. */
export type Awaitable<T> = T | PromiseLike<T>

/** Returns whether a value has to be awaited. No JSON value has, because a function is not JSON. */
export function isPromiseLike<T>(value: Awaitable<T>): value is PromiseLike<T> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return 'then' in value && typeof value.then === 'function'
}

/** Continues with a value: at once when it is there already, so that a synchronous handler costs no tick. */
export function mapAwaitable<T, R>(value: Awaitable<T>, transform: (value: T) => Awaitable<R>): Awaitable<R> {
  // A thenable of an author's may return nothing from its `then`.
  return isPromiseLike(value) ? Promise.resolve(value).then((result) => transform(result)) : transform(value)
}

// Taken when the module loads, so that a test's fake timers do not hold a handler up.
const { setTimeout } = globalThis
const setImmediateFunction: unknown = Reflect.get(globalThis, 'setImmediate')

/**
 * Runs a function after the event loop has turned once: what waits for it, such as another request, has had its turn.
 */
export function runAfterTick(callback: () => void): void {
  // Timers of 0 wait for a millisecond or more. Browsers know nothing else.
  if (typeof setImmediateFunction === 'function') setImmediateFunction(callback)
  else setTimeout(callback, 0)
}

/** Resolves after the event loop has turned once. */
export function waitForImmediate(): Promise<void> {
  return new Promise(runAfterTick)
}
