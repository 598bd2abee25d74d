const makeKey = Symbol('makes the signal')

interface Deferred {
  readonly [makeKey]: () => AbortSignal
}

/**
 * Gives an object a `signal` that is created on access; few handlers read it, and creating one costs more than most of
 * a call. `make` is called at every access, so it must return the same signal each time.
 */
export function deferSignal<T extends object>(
  target: T,
  make: () => AbortSignal,
): T & { readonly signal: AbortSignal } {
  const deferred: T & Deferred = Object.assign(target, { [makeKey]: make })
  defineDeferredSignal(deferred)
  return deferred
}

// A getter in a literal would be a new function in every object, and V8 creates a hidden class for each. These survive
// the young generation and burden the garbage collector. A shared function needs `this`.
const signalProperty: PropertyDescriptor & ThisType<Deferred> = {
  enumerable: true,
  get() {
    return this[makeKey]()
  },
}

function defineDeferredSignal<T extends Deferred>(target: T): asserts target is T & { readonly signal: AbortSignal } {
  Object.defineProperty(target, 'signal', signalProperty)
}
