/** Time and chance as a server or client uses them: the platform's by default, a test's own in tests. */
export interface Runtime {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds from any beginning, which never go back; only differences are used. */
  monotonicNow(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** A random UUID (RFC 9562, version 4). */
  randomUuid(): string
}

/** The platform's time and chance. */
export const platformRuntime: Runtime = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  // A handle is whatever setTimeout gave: a number in browsers, an object on Node.
  clearTimeout: (timer) => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
  randomUuid: () => crypto.randomUUID(),
}

/** Completes a runtime of which only some functions are given. */
export function runtimeOf(overrides: Partial<Runtime> = {}): Runtime {
  return { ...platformRuntime, ...overrides }
}

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
