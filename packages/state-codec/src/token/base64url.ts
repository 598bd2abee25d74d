import { decodeBase64 } from '@x/core'

const base64urlPattern = /^[A-Za-z0-9_-]*$/

/**
 * Canonical means only characters of the alphabet, no padding, and zeros in the unused bits of the last character (RFC
 * 4648, 3.5). Decoders ignore these bits, so without this check one token would have many texts.
 */
export function isCanonicalBase64url(text: string): boolean {
  if (!base64urlPattern.test(text)) return false
  const remainder = text.length % 4
  if (remainder === 0) return true
  if (remainder === 1) return false
  return (remainder === 2 ? 'AQgw' : 'AEIMQUYcgkosw048').includes(text.slice(-1))
}

/** `undefined` for a text that is not canonical. */
export function decodeBase64url(text: string): Uint8Array | undefined {
  if (!isCanonicalBase64url(text)) return undefined
  return decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
}
