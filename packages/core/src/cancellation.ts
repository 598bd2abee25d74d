/** An object that can be cancelled: a call, or another object with a signal. */
export interface Cancellable {
  readonly signal: AbortSignal
}

/**
 * The cancellation of a call, from which its signal is made. The signal is created on first access, because few
 * handlers read it and its creation takes longer than the rest of most calls.
 */
export interface Cancellation {
  isCancelled: boolean
  reason: unknown
  controller: AbortController | undefined
  /** The callbacks in the order of their addition. Undefined while there are none, which is the usual case. */
  listeners: (() => void)[] | undefined
}

/** Creates a {@link Cancellation}. */
export function createCancellation(): Cancellation {
  return { isCancelled: false, reason: undefined, controller: undefined, listeners: undefined }
}

/** Cancels, and aborts the signal if it was created. Later calls do nothing, so that the first reason is kept. */
export function cancel(cancellation: Cancellation, reason: unknown): void {
  if (cancellation.isCancelled) return
  cancellation.isCancelled = true
  cancellation.reason = reason
  cancellation.controller?.abort(reason)
  const { listeners = [] } = cancellation
  cancellation.listeners = undefined
  for (const listener of listeners) listener()
}

/** Returns the signal of a cancellation, which is created on first access. */
export function readSignal(cancellation: Cancellation): AbortSignal {
  if (cancellation.controller !== undefined) return cancellation.controller.signal
  const controller = new AbortController()
  cancellation.controller = controller
  if (cancellation.isCancelled) controller.abort(cancellation.reason)
  return controller.signal
}

const cancellationKey: unique symbol = Symbol('cancellation')

interface CancellationHolder {
  readonly [cancellationKey]: Cancellation
}

type MaybeCancellationHolder = { readonly [cancellationKey]?: Cancellation | undefined }

/**
 * Gives an object the `signal` of a cancellation. {@link onCancel} and {@link isCancelled} then read the cancellation
 * itself, without creating the signal. A copy of the object gets only the signal, because the copy may be given another
 * cancellation.
 */
export function withCancellation<T extends object>(target: T, cancellation: Cancellation): T & Cancellable {
  Object.defineProperty(target, cancellationKey, { value: cancellation })
  defineSignal(target)
  return target
}

// All objects share one getter. A getter in an object literal would be a new function in each object, and V8 would
// create a hidden class for each. A shared getter needs `this`.
const signalProperty: PropertyDescriptor & ThisType<CancellationHolder> = {
  enumerable: true,
  get() {
    return readSignal(this[cancellationKey])
  },
}

function defineSignal<T extends object>(target: T): asserts target is T & Cancellable {
  Object.defineProperty(target, 'signal', signalProperty)
}

/** Gives an object the signal and the cancellation of another object. The signal is still created on first access. */
export function withSignalOf<T extends object>(target: T, source: Cancellable): T & Cancellable {
  const cancellation = cancellationOf(source)
  return cancellation === undefined
    ? Object.assign(target, { signal: source.signal })
    : withCancellation(target, cancellation)
}

/** Returns true if an object was cancelled, like `signal.aborted`, without creating a signal. */
export function isCancelled(target: Cancellable): boolean {
  return cancellationOf(target)?.isCancelled ?? target.signal.aborted
}

/** Returns the reason of a cancellation, like `signal.reason`. */
export function abortReasonOf(target: Cancellable): unknown {
  const cancellation = cancellationOf(target)
  return cancellation === undefined ? target.signal.reason : cancellation.reason
}

/**
 * Adds a callback that runs when the object is cancelled. The object must not be cancelled yet. {@link offCancel}
 * removes the callback.
 */
export function onCancel(target: Cancellable, listener: () => void): void {
  const cancellation = cancellationOf(target)
  if (cancellation === undefined) onAbort(target.signal, listener)
  else if (!cancellation.isCancelled) attachListener(cancellation, listener)
}

// An array literal with one item allocates room for one item. A push onto an empty array allocates room for seventeen.
function attachListener(cancellation: Cancellation, listener: () => void): void {
  if (cancellation.listeners === undefined) cancellation.listeners = [listener]
  else cancellation.listeners.push(listener)
}

/** Removes a callback that {@link onCancel} added. */
export function offCancel(target: Cancellable, listener: () => void): void {
  const cancellation = cancellationOf(target)
  if (cancellation === undefined) return offAbort(target.signal, listener)
  const { listeners = [] } = cancellation
  const listenerIndex = listeners.indexOf(listener)
  if (listenerIndex !== -1) listeners.splice(listenerIndex, 1)
}

/**
 * Settles like the given promise, or rejects with the reason of the cancellation if that comes first. The work of the
 * promise continues.
 */
export function raceWithCancellation<T>(promise: Promise<T>, target: Cancellable): Promise<T> {
  return new Promise((resolve, reject) => {
    const rejectPromise = (): void => reject(abortReasonOf(target))
    if (isCancelled(target)) return rejectPromise()
    onCancel(target, rejectPromise)
    promise.then(resolve, reject).finally(() => offCancel(target, rejectPromise))
  })
}

function cancellationOf(target: Cancellable & MaybeCancellationHolder): Cancellation | undefined {
  return target[cancellationKey]
}

const callbacksBySignal = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Adds a callback for the abort of a signal. All callbacks of a signal share one event listener. Hundreds of event
 * listeners would make Node warn of a leak, and are slow to add and remove.
 */
export function onAbort(signal: AbortSignal, callback: () => void): void {
  const existingCallbacks = callbacksBySignal.get(signal)
  if (existingCallbacks) {
    existingCallbacks.add(callback)
    return
  }
  const callbacks = new Set([callback])
  callbacksBySignal.set(signal, callbacks)
  const runCallbacks = (): void => {
    // A callback may remove itself during the iteration. A `Set` allows that.
    for (const each of callbacks) each()
  }
  signal.addEventListener('abort', runCallbacks, { once: true })
}

/** Removes a callback that {@link onAbort} added. */
export function offAbort(signal: AbortSignal, callback: () => void): void {
  callbacksBySignal.get(signal)?.delete(callback)
}

const signalFactoryKey = Symbol('makes the signal')

interface DeferredSignal {
  readonly [signalFactoryKey]: () => AbortSignal
}

/**
 * Gives an object a `signal` that is created on access. Few handlers read the signal, and its creation takes longer
 * than the rest of most calls. `createSignal` is called at every access, so it must return the same signal each time.
 */
export function deferSignal<T extends object>(
  target: T,
  createSignal: () => AbortSignal,
): T & { readonly signal: AbortSignal } {
  const deferredTarget: T & DeferredSignal = Object.assign(target, { [signalFactoryKey]: createSignal })
  defineDeferredSignal(deferredTarget)
  return deferredTarget
}

// A getter in an object literal would be a new function in each object. V8 would create a hidden class for each, which
// burdens the garbage collector. A shared getter needs `this`.
const deferredSignalDescriptor: PropertyDescriptor & ThisType<DeferredSignal> = {
  enumerable: true,
  get() {
    return this[signalFactoryKey]()
  },
}

function defineDeferredSignal<T extends DeferredSignal>(
  target: T,
): asserts target is T & { readonly signal: AbortSignal } {
  Object.defineProperty(target, 'signal', deferredSignalDescriptor)
}
