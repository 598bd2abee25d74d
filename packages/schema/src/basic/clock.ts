/** Time, for whoever waits: the platform's own by default, a test's hand in tests. */
export interface Clock {
  /** Milliseconds; only differences of it are used. */
  now(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Keeps a timer from keeping the process alive, where the platform can: on Node a timer is an object, elsewhere a number. */
export function quieten(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** The platform's clock. */
export const platformClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  // A handle is whatever setTimeout gave: a number in browsers, an object on Node.
  clearTimeout: (timer) => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
}
