/**
 * Milliseconds since 1970, as `Date.now()` counts them. The compiler does not accept an `EpochMs` as a
 * {@link MonotonicMs}. A mistake there would make tokens that other instances reject.
 */
export type EpochMs = number & { readonly origin?: '1970' }

/**
 * Milliseconds from an arbitrary start, as `performance.now()` counts them. The value never decreases. Only differences
 * of two values have a meaning.
 */
export type MonotonicMs = number & { readonly origin?: 'any' }

/** The clock, the timers and the random ids of a server or client. Tests replace those of the platform. */
export interface Runtime {
  /** Returns the time of day. */
  now(): EpochMs
  /** Returns the milliseconds since an arbitrary start, which never decrease. */
  monotonicNow(): MonotonicMs
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** Returns a random UUID (RFC 9562, version 4). */
  randomUuid(): string
}

/** The clock, the timers and the random ids of the platform. */
export const platformRuntime: Runtime = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  // The handle is a return value of `setTimeout`: a number in browsers, an object on Node.
  clearTimeout: (timer) => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
  randomUuid: () => crypto.randomUUID(),
}

/** Returns a runtime with the given functions. The functions of the platform replace the absent ones. */
export function runtimeOf(overrides: Partial<Runtime> = {}): Runtime {
  return { ...platformRuntime, ...overrides }
}

/**
 * The part of a {@link Runtime} for timers and durations. It lacks the time of day, so that code cannot mix up the two
 * times.
 */
export type Clock = Pick<Runtime, 'monotonicNow' | 'setTimeout' | 'clearTimeout'>

/**
 * Allows the process to exit while a timer is pending, if the platform supports that. On Node a timer is an object,
 * elsewhere a number.
 */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** Returns the origin of the page that runs this program. Undefined outside of browsers. */
export function findPageOrigin(): string | undefined {
  const location: unknown = Reflect.get(globalThis, 'location')
  const origin: unknown =
    typeof location === 'object' && location !== null ? Reflect.get(location, 'origin') : undefined
  return typeof origin === 'string' ? origin : undefined
}

/** Returns true on workerd, where timers and callbacks end with the request that made them. */
export function isWorkerd(): boolean {
  const navigator: unknown = Reflect.get(globalThis, 'navigator')
  return (
    typeof navigator === 'object' && navigator !== null && Reflect.get(navigator, 'userAgent') === 'Cloudflare-Workers'
  )
}

/**
 * Returns a function that runs other functions in the asynchronous context in which it was created
 * (`AsyncLocalStorage`). A server captures the context in which it is created, so that background work never sees the
 * stores of the request that started it. On platforms without such contexts, the returned function calls the other
 * function directly.
 */
export function captureAsyncContext(): <T>(run: () => T) => T {
  return asyncHooks?.AsyncLocalStorage.snapshot() ?? ((run) => run())
}

/**
 * Returns the SHA-256 of a text as hexadecimal digits, or a promise of these digits on platforms that have only
 * asynchronous digests.
 */
export function sha256Hex(text: string): string | Promise<string> {
  return sha256HexSync(text) ?? sha256HexWithWebCrypto(text)
}

/**
 * Returns the SHA-256 of a text as hexadecimal digits, or undefined on platforms that have only asynchronous digests.
 */
export function sha256HexSync(text: string): string | undefined {
  return nodeCrypto?.hash('sha256', text, 'hex')
}

async function sha256HexWithWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Throws on a Node that these packages do not support. Every package imports this module first, so the program ends
 * with the reason, and not with the name of the first function that is missing there.
 */
function checkNodeVersion(version: string | undefined): void {
  if (version === undefined || Number.parseInt(version, 10) >= 20) return
  throw new Error(`The @x packages need Node 20.19 or later, and this is Node ${version}`)
}

checkNodeVersion(globalThis.process?.versions?.node)

// `getBuiltinModule` keeps these modules out of bundles for other platforms.
const asyncHooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')

// The digest of Node is preferred, because Web Crypto computes in another thread. That takes longer than the rest of a
// request.
const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto')
