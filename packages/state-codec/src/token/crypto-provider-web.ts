import { encodeBase64url } from '@x/core'
import { decodeBase64url, isCanonicalBase64url } from './base64url.ts'
import { type Cipher, type CipherKey, type CryptoProvider, derivationSalt } from './crypto-provider.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const webCrypto: CryptoProvider = {
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  digest: async (text) => encodeBuffer(await crypto.subtle.digest('SHA-256', encoder.encode(text))),
  isCanonicalBase64url,
}

/** Web Crypto appends the tag to the ciphertext. */
const tagBytes = 16

/** JWE compact. */
export async function createWebEncryption(cipherKey: CipherKey): Promise<Cipher> {
  const key = await deriveWebKey(cipherKey, { name: 'AES-GCM', length: 256 }, ['encrypt', 'decrypt'])
  const header = encodeHeader(cipherKey)
  const gcm = { name: 'AES-GCM', additionalData: encoder.encode(header), tagLength: tagBytes * 8 }
  return {
    async seal(content, random) {
      const iv = new Uint8Array(random(12))
      const encrypted = await crypto.subtle.encrypt({ ...gcm, iv }, key, encoder.encode(content))
      const ciphertext = encodeBuffer(encrypted.slice(0, -tagBytes))
      const tag = encodeBuffer(encrypted.slice(-tagBytes))
      return `${header}..${encodeBase64url(iv)}.${ciphertext}.${tag}`
    },
    async open([, , nonce = '', content = '', tag = '']) {
      const iv = decodeSegment(nonce)
      const encrypted = concatBytes(decodeSegment(content), decodeSegment(tag))
      const plaintext = await crypto.subtle
        .decrypt({ ...gcm, iv }, key, encrypted)
        // Web Crypto reports no other error here than a tag that does not match.
        .catch(() => undefined)
      return plaintext && decoder.decode(plaintext)
    },
  }
}

/** JWS compact. */
export async function createWebSigning(cipherKey: CipherKey): Promise<Cipher> {
  const key = await deriveWebKey(cipherKey, { name: 'HMAC', hash: 'SHA-256', length: 256 }, ['sign', 'verify'])
  const header = encodeHeader(cipherKey)
  return {
    async seal(content) {
      const signedText = `${header}.${encodeText(content)}`
      return `${signedText}.${encodeBuffer(await crypto.subtle.sign('HMAC', key, encoder.encode(signedText)))}`
    },
    async open([, content = '', signature = '']) {
      const signedText = encoder.encode(`${header}.${content}`)
      const isValid = await crypto.subtle.verify('HMAC', key, decodeSegment(signature), signedText)
      return isValid ? decoder.decode(decodeSegment(content)) : undefined
    },
  }
}

type DerivedAlgorithm = { name: 'AES-GCM'; length: number } | { name: 'HMAC'; hash: string; length: number }
type KeyUse = 'encrypt' | 'decrypt' | 'sign' | 'verify'

async function deriveWebKey({ secret, info }: CipherKey, algorithm: DerivedAlgorithm, keyUses: KeyUse[]) {
  const rootKey = await crypto.subtle.importKey('raw', new Uint8Array(secret), 'HKDF', false, ['deriveKey'])
  const salt = encoder.encode(derivationSalt)
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt, info: encoder.encode(info) }
  return crypto.subtle.deriveKey(derivation, rootKey, algorithm, false, keyUses)
}

function encodeHeader({ header }: CipherKey): string {
  return encodeText(JSON.stringify(header))
}

function encodeText(text: string): string {
  return encodeBase64url(encoder.encode(text))
}

function encodeBuffer(buffer: ArrayBuffer): string {
  return encodeBase64url(new Uint8Array(buffer))
}

/** The codec gives a cipher only segments in canonical Base64url. */
function decodeSegment(segment: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64url(segment)
  if (bytes === undefined) throw new TypeError('A segment of the token is not canonical Base64url')
  return new Uint8Array(bytes)
}

function concatBytes(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
