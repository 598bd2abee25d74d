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
export function runtimeOf(given: Partial<Runtime> = {}): Runtime {
  return { ...platformRuntime, ...given }
}
