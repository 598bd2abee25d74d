/**
 * Milliseconds since 1970, as `Date.now()` counts them. The compiler refuses one where a {@link MonotonicMs} is wanted:
 * exchanged, they make tokens that other instances reject.
 */
export type EpochMs = number & { readonly origin?: '1970' }

/** Milliseconds from any beginning, which never go back, as `performance.now()` counts them. Only differences count. */
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
  // A handle is the value that setTimeout gave: a number in browsers, an object on Node.
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

/**
 * Returns a function that runs others in the asynchronous context of this moment (`AsyncLocalStorage`), from any other
 * one. A server captures the context in which it is created, so that background work never runs with the stores of the
 * request that started it. On platforms without such contexts the function calls the other directly.
 */
export function captureAsyncContext(): <T>(run: () => T) => T {
  return asyncHooks?.AsyncLocalStorage.snapshot() ?? ((run) => run())
}

/**
 * Returns the SHA-256 of a text as hexadecimal digits: at once on platforms that can, and otherwise as a promise.
 */
export function sha256Hex(text: string): string | Promise<string> {
  return sha256HexSync(text) ?? sha256HexWithWebCrypto(text)
}

/** Returns the SHA-256 of a text as hexadecimal digits, undefined on platforms that have digests only as promises. */
export function sha256HexSync(text: string): string | undefined {
  return nodeCrypto?.hash('sha256', text, 'hex')
}

async function sha256HexWithWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

// Bundles for other platforms need not know of these modules.
const asyncHooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')

// Web Crypto hands a few bytes to another thread and back, which takes longer than all else that a request does.
const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto')
