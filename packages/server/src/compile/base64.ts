/** The bytes that go through one call; a larger spread would overflow the stack. */
const chunk = 0x2000

/** The Base64 of bytes, with the padding that `blob` fields have. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let start = 0; start < bytes.length; start += chunk) {
    binary += String.fromCharCode(...bytes.subarray(start, start + chunk))
  }
  return btoa(binary)
}

/** Text as URL-safe Base64 of its UTF-8, without padding. */
export function encodeBase64Url(text: string): string {
  const base64 = encodeBase64(new TextEncoder().encode(text))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
