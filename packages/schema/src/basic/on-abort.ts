const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when a signal aborts. However many wait, the signal has one listener: a signal that serves hundreds of calls
 * would make Node warn of a leak, and listeners of its own are slow to add and to remove.
 */
export function onAbort(signal: AbortSignal, callback: () => void): void {
  const known = waiting.get(signal)
  if (known) {
    known.add(callback)
    return
  }
  const callbacks = new Set([callback])
  waiting.set(signal, callbacks)
  const fire = (): void => {
    // A callback takes itself back while this runs, which a Set allows.
    for (const each of callbacks) each()
  }
  signal.addEventListener('abort', fire, { once: true })
}

/** Takes back what {@link onAbort} was told. */
export function offAbort(signal: AbortSignal, callback: () => void): void {
  waiting.get(signal)?.delete(callback)
}
