/**
 * Milliseconds since 1970, as `Date.now()` counts them. The compiler refuses one where a {@link MonotonicMs} is wanted:
 * exchanged, they make tokens that other instances reject.
 */
export type EpochMs = number & { readonly origin?: '1970' }

/** Milliseconds from any beginning, which never go back, as `performance.now()` counts them; only differences count. */
export type MonotonicMs = number & { readonly origin?: 'any' }

/** Time and chance as a server or client uses them: the platform's by default, a test's own in tests. */
export interface Runtime {
  /** Returns the time of day. */
  now(): EpochMs
  /** Returns a time that never goes back. */
  monotonicNow(): MonotonicMs
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

/** The part of a {@link Runtime} that measures and waits. It has no time of day, so the two cannot be exchanged. */
export type Clock = Pick<Runtime, 'monotonicNow' | 'setTimeout' | 'clearTimeout'>

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
