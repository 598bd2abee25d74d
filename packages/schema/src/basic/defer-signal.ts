const makeKey = Symbol('makes the signal')

interface Deferred {
  readonly [makeKey]: () => AbortSignal
}

/**
 * Gives an object a `signal` that is made when somebody first looks at it; hardly any handler does, and making one costs
 * more than most of a call. `make` is asked at every look, so it has to give the same signal each time.
 */
export function deferSignal<T extends object>(
  target: T,
  make: () => AbortSignal,
): T & { readonly signal: AbortSignal } {
  const deferred: T & Deferred = Object.assign(target, { [makeKey]: make })
  defineSignal(deferred)
  return deferred
}

// A getter written in a literal would be a function of its own in every object, and V8 makes a hidden class for each;
// those pass the young generation and burden the garbage collector. A function that all objects share needs `this`.
const signalProperty: PropertyDescriptor & ThisType<Deferred> = {
  enumerable: true,
  get() {
    return this[makeKey]()
  },
}

function defineSignal<T extends Deferred>(target: T): asserts target is T & { readonly signal: AbortSignal } {
  Object.defineProperty(target, 'signal', signalProperty)
}
