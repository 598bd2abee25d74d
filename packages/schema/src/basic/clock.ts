/** A source of time: the platform's own by default, a controlled one in tests. */
export interface Clock {
  /** Returns milliseconds; only differences are used. */
  now(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Lets the process exit despite a timer, where the platform can: on Node a timer is an object, elsewhere a number. */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** Returns true on workerd, where timers and callbacks end with the request that made them. */
export function isWorkerd(): boolean {
  const navigator: unknown = Reflect.get(globalThis, 'navigator')
  return (
    typeof navigator === 'object' && navigator !== null && Reflect.get(navigator, 'userAgent') === 'Cloudflare-Workers'
  )
}

/** The platform's clock. */
export const platformClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  // A handle is the result of setTimeout: a number in browsers, an object on Node.
  clearTimeout: (timer) => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
}
