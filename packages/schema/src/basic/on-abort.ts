const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Adds a callback for the abort of a signal. All callbacks of a signal share one listener: hundreds of listeners would
 * make Node warn of a leak, and are slow to add and remove.
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
    // A callback may remove itself during the iteration, which a Set allows.
    for (const each of callbacks) each()
  }
  signal.addEventListener('abort', fire, { once: true })
}

/** Removes a callback of {@link onAbort}. */
export function offAbort(signal: AbortSignal, callback: () => void): void {
  waiting.get(signal)?.delete(callback)
}
