/** A signal, or what has one, such as a call. */
export type Cancellable = AbortSignal | { readonly signal: AbortSignal }

/**
 * Cancels a call. Its signal is made when it is read first, because few handlers read it and making one takes longer
 * than the rest of most calls.
 */
export class Cancellation {
  #isCancelled = false
  #reason: unknown
  #controller: AbortController | undefined
  /** In the order of their addition. Undefined while there are none, which is usual. */
  #listeners: ((reason: unknown) => void)[] | undefined

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  /** Undefined before the cancellation. */
  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isCancelled) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Cancels, and aborts the signal if it was read. Later calls do nothing, so the first reason stays. */
  cancel(reason: unknown): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    this.#listeners = undefined
    if (listeners !== undefined) for (const listener of listeners) listener(reason)
  }

  /** Calls the listener with the reason. {@link onCancel} does the same for any object. */
  add(listener: (reason: unknown) => void): void {
    // An array literal with one item allocates room for one. A push onto an empty array allocates room for seventeen.
    if (this.#isCancelled) listener(this.#reason)
    else if (this.#listeners === undefined) this.#listeners = [listener]
    else this.#listeners.push(listener)
  }

  /** Undoes {@link Cancellation.add}. */
  remove(listener: (reason: unknown) => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1
    if (index !== -1) this.#listeners?.splice(index, 1)
  }
}

const sourceKey: unique symbol = Symbol('source of the signal')

interface SignalHolder {
  readonly [sourceKey]: { readonly signal: AbortSignal }
}

/**
 * Gives an object the signal of another, such as a {@link Cancellation} or a call, which is still made only when it is
 * read. A copy of the object gets the signal alone, because the copy may be given another one.
 */
export function withSignalOf<T extends object>(
  target: T,
  source: { readonly signal: AbortSignal },
): T & { readonly signal: AbortSignal } {
  const holder: typeof source & Partial<SignalHolder> = source
  Object.defineProperty(target, sourceKey, { value: holder[sourceKey] ?? source })
  defineSignal(target)
  return target
}

// One getter for all objects. In an object literal it would be a new function each time, for which V8 would create a
// hidden class each. Sharing it needs `this`.
const signalProperty: PropertyDescriptor & ThisType<SignalHolder> = {
  enumerable: true,
  get() {
    return this[sourceKey].signal
  },
}

function defineSignal<T extends object>(target: T): asserts target is T & { readonly signal: AbortSignal } {
  Object.defineProperty(target, 'signal', signalProperty)
}

/** Like `signal.aborted`, without making a signal. */
export function isCancelled(target: Cancellable): boolean {
  return cancellationOf(target)?.isCancelled ?? signalOf(target).aborted
}

/**
 * Calls the listener with the reason when the object is cancelled, or at once if it was before. {@link offCancel}
 * removes it.
 */
export function onCancel(target: Cancellable, listener: (reason: unknown) => void): void {
  const cancellation = cancellationOf(target)
  if (cancellation === undefined) addToSignal(signalOf(target), listener)
  else cancellation.add(listener)
}

/** Undoes {@link onCancel}. */
export function offCancel(target: Cancellable, listener: (reason: unknown) => void): void {
  const cancellation = cancellationOf(target)
  if (cancellation === undefined) listenersBySignal.get(signalOf(target))?.delete(listener)
  else cancellation.remove(listener)
}

function cancellationOf(target: Cancellable & Partial<SignalHolder>): Cancellation | undefined {
  const source = target[sourceKey] ?? target
  return source instanceof Cancellation ? source : undefined
}

function signalOf(target: Cancellable): AbortSignal {
  return 'signal' in target ? target.signal : target
}

const listenersBySignal = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>()

/**
 * All callbacks of a signal share one event listener: hundreds of them would make Node warn of a leak, and are slow to
 * add and remove.
 */
function addToSignal(signal: AbortSignal, listener: (reason: unknown) => void): void {
  if (signal.aborted) return listener(signal.reason)
  const existingListeners = listenersBySignal.get(signal)
  if (existingListeners !== undefined) return void existingListeners.add(listener)
  const listeners = new Set([listener])
  listenersBySignal.set(signal, listeners)
  const runListeners = (): void => {
    // A listener may remove itself during the iteration. A `Set` allows that.
    for (const each of listeners) each(signal.reason)
  }
  signal.addEventListener('abort', runListeners, { once: true })
}
