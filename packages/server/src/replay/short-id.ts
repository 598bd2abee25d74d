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
  // Three digits have the 12 bits of two characters. A zero digit completes the last three.
  const digits = `${text}0`
  let short = ''
  for (let at = 0; at < digits.length; at += 3) {
    const bits = Number.parseInt(digits.slice(at, at + 3), 16)
    short += alphabet.charAt(bits >> 6) + alphabet.charAt(bits & 63)
  }
  return short
}

/** Returns the text that {@link shortenDigest} shortened. */
export function expandDigest(text: string): string {
  if (!shortPattern.test(text)) return text
  let digits = ''
  for (let at = 0; at < text.length; at += 2) {
    const bits = (alphabet.indexOf(text.charAt(at)) << 6) | alphabet.indexOf(text.charAt(at + 1))
    digits += bits.toString(16).padStart(3, '0')
  }
  return digits.slice(0, -1)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const digestPattern = /^[0-9a-f]{32}$/

/** 16 bytes in Base64url. The last character contains two bits of data and four zero bits. */
const shortPattern = /^[A-Za-z0-9_-]{21}[AQgw]$/
