/** Writes a UUID in 22 characters of Base64url instead of 36. Any other text stays as it is. */
export function shortenUuid(text: string): string {
  return uuidPattern.test(text) ? shortenDigits(text) : text
}

/** Undoes {@link shortenUuid}. */
export function expandUuid(text: string): string {
  if (!shortPattern.test(text)) return text
  const digits = expandDigits(text)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

// Every round converts ids, so characters are looked up and nothing is parsed.

/** Writes hexadecimal digits as Base64url, three in two characters. Skips dashes. Zero bits complete two last digits. */
export function shortenDigits(text: string): string {
  let short = ''
  let bits = 0
  let digitCount = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === dashCode) continue
    // '0' to '9' are 48 to 57, and 'a' to 'f' are 97 to 102.
    bits = (bits << 4) | (code < 97 ? code - 48 : code - 87)
    if (++digitCount % 3 !== 0) continue
    short += alphabet.charAt(bits >> 6) + alphabet.charAt(bits & 63)
    bits = 0
  }
  return digitCount % 3 === 0 ? short : `${short}${alphabet.charAt(bits >> 2)}${alphabet.charAt((bits & 3) << 4)}`
}

function expandDigits(text: string): string {
  let digits = ''
  for (let at = 0; at < text.length; at += 2) {
    const bits = (valueAt(text, at) << 6) | valueAt(text, at + 1)
    digits += hexDigits.charAt(bits >> 8) + hexDigits.charAt((bits >> 4) & 15) + hexDigits.charAt(bits & 15)
  }
  return digits.slice(0, -1)
}

function valueAt(text: string, at: number): number {
  return valueByCode[text.charCodeAt(at)] ?? 0
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const hexDigits = '0123456789abcdef'
const dashCode = 45

const valueByCode = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, alphabet.indexOf(String.fromCharCode(code))),
)

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** 16 bytes in Base64url. Its last character contains two bits of data and four zero bits. */
const shortPattern = /^[A-Za-z0-9_-]{21}[AQgw]$/
