/**
 * Returns the SHA-256 of a text as hexadecimal digits: at once on platforms that can, and otherwise as a promise.
 */
export function sha256Hex(text: string): string | Promise<string> {
  return nodeCrypto?.hash('sha256', text, 'hex') ?? sha256HexWithWebCrypto(text)
}

/** Returns the SHA-256 of a text as hexadecimal digits; undefined on platforms that have digests only as promises. */
export function sha256HexSync(text: string): string | undefined {
  return nodeCrypto?.hash('sha256', text, 'hex')
}

async function sha256HexWithWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

// Web Crypto hands a few bytes to another thread and back, which takes longer than all else that a request does.
// Bundles for other platforms need not know of this one's module.
const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto')
