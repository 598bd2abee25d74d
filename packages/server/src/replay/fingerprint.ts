import type { Awaitable } from '../request/awaitable.ts'

/** Returns a digest of a question, by which a later run knows that it still asks the same: 16 bytes of SHA-256, as hex. */
export function fingerprintOf(text: string): Awaitable<string> {
  return digestNow(text) ?? digestWithWebCrypto(text)
}

/** Returns 16 bytes of SHA-256, as hex; undefined on platforms that have digests only as promises. */
export function digestNow(text: string): string | undefined {
  return nodeCrypto?.hash('sha256', text, 'hex').slice(0, length)
}

async function digestWithWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, length)
}

/** In hexadecimal digits. */
const length = 32

// Web Crypto hands a few bytes to another thread and back, which takes longer than all else that a round does. Bundles for other platforms need not
// know of this one's module.
const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto')
