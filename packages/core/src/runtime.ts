/**
 * Milliseconds since 1970, as `Date.now()` counts them. The compiler does not take an `EpochMs` for a
 * {@link MonotonicMs}: mixing them up would make tokens that other instances reject.
 */
export type EpochMs = number & { readonly origin?: '1970' }

/**
 * Milliseconds from an arbitrary start, as `performance.now()` counts them. They never decrease, and only differences
 * mean something.
 */
export type MonotonicMs = number & { readonly origin?: 'any' }

/** Clock, timers and random ids of a server or client. Tests replace the platform's. */
export interface Runtime {
  /** Time of day. */
  now(): EpochMs
  /** Milliseconds since an arbitrary start, which never decrease. */
  monotonicNow(): MonotonicMs
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** RFC 9562, version 4. */
  randomUuid(): string
}

/** The platform's own clock, timers and random ids. */
export const platformRuntime: Runtime = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  // The handle is what `setTimeout` returned: a number in browsers, an object on Node.
  clearTimeout: (timer) => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
  randomUuid: () => crypto.randomUUID(),
}

/** Puts the platform's functions in place of absent ones. */
export function runtimeOf(overrides: Partial<Runtime> = {}): Runtime {
  return { ...platformRuntime, ...overrides }
}

/** Timers and durations alone. It lacks the time of day, so that code cannot mix up the two times. */
export type Clock = Pick<Runtime, 'monotonicNow' | 'setTimeout' | 'clearTimeout'>

/**
 * Lets the process exit while a timer is pending, if the platform can. On Node a timer is an object, elsewhere a
 * number.
 */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** Origin of the page that runs this program. Undefined outside of browsers. */
export function findPageOrigin(): string | undefined {
  const location: unknown = Reflect.get(globalThis, 'location')
  const origin: unknown =
    typeof location === 'object' && location !== null ? Reflect.get(location, 'origin') : undefined
  return typeof origin === 'string' ? origin : undefined
}

/** True on workerd, where timers and callbacks end with the request that made them. */
export function isWorkerd(): boolean {
  const navigator: unknown = Reflect.get(globalThis, 'navigator')
  return (
    typeof navigator === 'object' && navigator !== null && Reflect.get(navigator, 'userAgent') === 'Cloudflare-Workers'
  )
}

/**
 * Captures the asynchronous context (`AsyncLocalStorage`), and runs functions in it. A server captures the one in which
 * it is created, so that background work never sees the stores of the request that started it. On platforms without
 * such contexts, functions are called directly.
 */
export function captureAsyncContext(): <T>(run: () => T) => T {
  return asyncHooks?.AsyncLocalStorage.snapshot() ?? ((run) => run())
}

/** SHA-256 as hexadecimal digits, or a promise of them on platforms that have only asynchronous digests. */
export function sha256Hex(text: string): string | Promise<string> {
  return sha256HexSync(text) ?? sha256HexWithWebCrypto(text)
}

/** SHA-256 as hexadecimal digits, or undefined on platforms that have only asynchronous digests. */
export function sha256HexSync(text: string): string | undefined {
  return nodeCrypto?.hash('sha256', text, 'hex')
}

/** Encodes bytes as lowercase hexadecimal digits (RFC 4648, section 8). */
export function encodeHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function sha256HexWithWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return encodeHex(new Uint8Array(digest))
}

/**
 * Every package imports this module first, so on a Node that is too old a program ends with the reason, and not with
 * the name of the first function that is missing there.
 */
function checkNodeVersion(version: string | undefined): void {
  if (version === undefined || Number.parseInt(version, 10) >= 20) return
  throw new Error(`The @x packages need Node 20.19 or later, and this is Node ${version}`)
}

checkNodeVersion(globalThis.process?.versions?.node)

// `getBuiltinModule` keeps these modules out of bundles for other platforms.
const asyncHooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')

// Preferred, because Web Crypto computes in another thread, which takes longer than the rest of a request.
const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto')
