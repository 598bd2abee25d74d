/** More arguments of `String.fromCharCode` could overflow the stack. */
const chunkBytes = 0x2000

/** Encodes bytes as Base64 with padding, as the protocol's `blob` members require (RFC 4648, section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  let binaryString = ''
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    binaryString += String.fromCharCode(...bytes.subarray(start, start + chunkBytes))
  }
  return btoa(binaryString)
}

/** Encodes bytes as URL-safe Base64 without padding (RFC 4648, section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes Base64. Undefined if the text is none. */
export function decodeBase64(text: string): Uint8Array | undefined {
  let binaryString: string
  try {
    binaryString = atob(text)
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(binaryString.length)
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binaryString.codePointAt(index) ?? 0
  return bytes
}
