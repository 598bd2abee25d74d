import { isPromiseLike } from '@x/core'
/**
 * A value or its promise, because handlers may be synchronous or asynchronous. `Promise` adds no value to
 * `PromiseLike`, but the compiler compares an asynchronous handler with it directly, so that its error names the value
 * and not the parameters of `then`.
 */
export type Awaitable<T> = T | Promise<T> | PromiseLike<T>

/**
 * Applies a function to a value, at once if it is no promise, so that a synchronous handler does not wait for a tick.
 */
export function mapAwaitable<T, R>(value: Awaitable<T>, transform: (value: T) => Awaitable<R>): Awaitable<R> {
  // Not the value's own `then`: that of an author's thenable may return nothing.
  return isPromiseLike(value) ? Promise.resolve(value).then<R>((result) => transform(result)) : transform(value)
}

/** For promises that a handler receives and may drop: an unhandled rejection does not end the process. */
export function allowUnawaited<T extends Promise<unknown>>(promise: T): T {
  promise.catch(() => {})
  return promise
}

// `setTimeout` is read when the module loads, so that the fake timers of a test do not delay a handler.
// oxlint-disable-next-line no-restricted-properties -- waits for one turn of the event loop
const platformSetTimeout = globalThis.setTimeout
const setImmediateFunction: unknown = Reflect.get(globalThis, 'setImmediate')

/** Waits for one turn of the event loop, so that other waiting work comes first, such as another request. */
export function runAfterTick(callback: () => void): void {
  // Browsers have only `setTimeout`, which waits for a millisecond or more even if the delay is 0.
  if (typeof setImmediateFunction === 'function') setImmediateFunction(callback)
  else platformSetTimeout(callback, 0)
}

export function waitForImmediate(): Promise<void> {
  return new Promise(runAfterTick)
}
