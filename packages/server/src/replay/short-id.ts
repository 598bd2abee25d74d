/** Writes a UUID in 22 characters of Base64url instead of 36. Returns any other text unchanged. */
export function shortenUuid(text: string): string {
  return uuidPattern.test(text) ? shortenDigest(text.replaceAll('-', '')) : text
}

/** Returns the text that {@link shortenUuid} shortened. */
export function expandUuid(text: string): string {
  const digits = expandDigest(text)
  if (digits === text) return text
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

/** Writes 32 hexadecimal digits in 22 characters of Base64url. Returns any other text unchanged. */
export function shortenDigest(text: string): string {
  if (!digestPattern.test(text)) return text
  let binary = ''
  for (let at = 0; at < text.length; at += 2) binary += String.fromCharCode(Number.parseInt(text.slice(at, at + 2), 16))
  return btoa(binary).slice(0, shortLength).replaceAll('+', '-').replaceAll('/', '_')
}

/** Returns the text that {@link shortenDigest} shortened. */
export function expandDigest(text: string): string {
  if (!shortPattern.test(text)) return text
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Array.from(binary, (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const digestPattern = /^[0-9a-f]{32}$/

/**
 * The number of characters of 16 bytes in Base64url. The last character contains two bits of data and four zero bits.
 */
const shortLength = 22
const shortPattern = /^[A-Za-z0-9_-]{21}[AQgw]$/
