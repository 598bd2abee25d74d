import { encodeHex } from '@x/core'

/** `sha256:` and 64 lowercase hexadecimal digits. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)))
  return `sha256:${encodeHex(hash)}`
}
