import { isPromiseLike } from '@x/core'
/**
 * A value, or a promise of the value. Handlers may be synchronous or asynchronous. `Promise` adds no value to
 * `PromiseLike`: the compiler compares an asynchronous handler with it directly, so that its error names the value and
 * not the parameters of `then`.
 */
export type Awaitable<T> = T | Promise<T> | PromiseLike<T>

/**
 * Applies a function to a value, or to the value of a promise. A value that is no promise is used at once, so that a
 * synchronous handler does not wait for a tick.
 */
export function mapAwaitable<T, R>(value: Awaitable<T>, transform: (value: T) => Awaitable<R>): Awaitable<R> {
  // `Promise.resolve` is needed, because the `then` of an author's thenable may return nothing.
  return isPromiseLike(value) ? Promise.resolve(value).then<R>((result) => transform(result)) : transform(value)
}

/**
 * Returns the promise, whose rejection does not end the process when no code awaits it. For promises that a handler
 * receives: it may drop them.
 */
export function allowUnawaited<T extends Promise<unknown>>(promise: T): T {
  promise.catch(() => {})
  return promise
}

// `setTimeout` is read when the module loads, so that the fake timers of a test do not delay a handler.
// oxlint-disable-next-line no-restricted-properties -- waits for one turn of the event loop
const { setTimeout } = globalThis
const setImmediateFunction: unknown = Reflect.get(globalThis, 'setImmediate')

/** Runs a function in the next turn of the event loop, after other work that is waiting, such as another request. */
export function runAfterTick(callback: () => void): void {
  // Browsers have only `setTimeout`, which waits for a millisecond or more even if the delay is 0.
  if (typeof setImmediateFunction === 'function') setImmediateFunction(callback)
  else setTimeout(callback, 0)
}

/** Resolves in the next turn of the event loop. */
export function waitForImmediate(): Promise<void> {
  return new Promise(runAfterTick)
}
