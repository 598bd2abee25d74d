import { offAbort, onAbort } from './on-abort.ts'

/** What can be cancelled: a call, or whatever else carries its signal. */
export interface Cancellable {
  readonly signal: AbortSignal
}

/**
 * Whether a call is still wanted, behind its signal. The signal is made when somebody first looks at it: hardly any handler
 * does, and one costs more than most of a call.
 */
export interface Cancellation {
  cancelled: boolean
  reason: unknown
  controller: AbortController | undefined
  /** Called back once, in the order in which they were added; undefined while there are none, as of most calls. */
  listeners: (() => void)[] | undefined
}

/** Starts a {@link Cancellation}. */
export function createCancellation(): Cancellation {
  return { cancelled: false, reason: undefined, controller: undefined, listeners: undefined }
}

/** Cancels, and aborts the signal if there is one; the first reason stays. */
export function cancel(cancellation: Cancellation, reason: unknown): void {
  if (cancellation.cancelled) return
  cancellation.cancelled = true
  cancellation.reason = reason
  cancellation.controller?.abort(reason)
  const { listeners = [] } = cancellation
  cancellation.listeners = undefined
  for (const listener of listeners) listener()
}

/** The signal of a cancellation, made at the first look. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation.controller !== undefined) return cancellation.controller.signal
  const controller = new AbortController()
  cancellation.controller = controller
  if (cancellation.cancelled) controller.abort(cancellation.reason)
  return controller.signal
}

const cancellationKey = Symbol('cancellation')

interface Cancelled {
  readonly [cancellationKey]: Cancellation
}

/**
 * Gives an object the `signal` of a cancellation. {@link onCancel} and {@link isCancelled} then ask the cancellation itself, and
 * the signal need not be made. A copy of the object has the signal alone, because a copy may be given another.
 */
export function cancelledBy<T extends object>(target: T, cancellation: Cancellation): T & Cancellable {
  Object.defineProperty(target, cancellationKey, { value: cancellation })
  defineSignal(target)
  return target
}

// Every object shares the getter: one in a literal would be a function of its own in each, and V8 makes a hidden class for each
// of those. A function that objects share needs `this`.
const signalProperty: PropertyDescriptor & ThisType<Cancelled> = {
  enumerable: true,
  get() {
    return signalOf(this[cancellationKey])
  },
}

function defineSignal<T extends object>(target: T): asserts target is T & Cancellable {
  Object.defineProperty(target, 'signal', signalProperty)
}

/** Whether something was cancelled: as `signal.aborted` says, without making a signal for it. */
export function isCancelled(target: Cancellable): boolean {
  return cancellationOf(target)?.cancelled ?? target.signal.aborted
}

/** Why something was cancelled: as `signal.reason` says. */
export function cancelReason(target: Cancellable): unknown {
  const cancellation = cancellationOf(target)
  return cancellation === undefined ? target.signal.reason : cancellation.reason
}

/** Calls back when something is cancelled, if it is not yet; {@link offCancel} takes that back. */
export function onCancel(target: Cancellable, listener: () => void): void {
  const cancellation = cancellationOf(target)
  if (cancellation === undefined) onAbort(target.signal, listener)
  else if (!cancellation.cancelled) listen(cancellation, listener)
}

// An array that begins with one has room for one; what is pushed into an empty one makes room for seventeen.
function listen(cancellation: Cancellation, listener: () => void): void {
  if (cancellation.listeners === undefined) cancellation.listeners = [listener]
  else cancellation.listeners.push(listener)
}

/** Takes back what {@link onCancel} was told. */
export function offCancel(target: Cancellable, listener: () => void): void {
  const cancellation = cancellationOf(target)
  if (cancellation === undefined) return offAbort(target.signal, listener)
  const { listeners = [] } = cancellation
  const at = listeners.indexOf(listener)
  if (at !== -1) listeners.splice(at, 1)
}

/** What a promise brings, or the reason for which something is cancelled before; the promise goes on for others. */
export function unlessCancelled<T>(promise: Promise<T>, target: Cancellable): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(cancelReason(target))
    if (isCancelled(target)) return stop()
    onCancel(target, stop)
    promise.then(resolve, reject).finally(() => offCancel(target, stop))
  })
}

function cancellationOf(target: Cancellable & Partial<Cancelled>): Cancellation | undefined {
  return target[cancellationKey]
}
