import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify, errors } from 'jose'
import { encodeBase64url } from '@x/core'
import { isCanonicalBase64url } from './base64url.ts'
import type { Cipher, CipherKey, CryptoProvider } from './crypto-provider.ts'
import { derivationSalt } from './crypto-provider.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The operations of Web Crypto. The library jose implements the token formats. */
export const webCrypto: CryptoProvider = {
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  digest: async (text) => encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))),
  isCanonicalBase64url,
}

/** Creates a cipher for JWE compact. */
export async function createWebEncryption(cipherKey: CipherKey): Promise<Cipher> {
  const key = await deriveWebKey(cipherKey, { name: 'AES-GCM', length: 256 }, ['encrypt', 'decrypt'])
  const { header } = cipherKey
  if (header.alg !== 'dir') throw new TypeError('createEncryption needs a header with the algorithm "dir"')
  return {
    seal: (content, random) =>
      new CompactEncrypt(encoder.encode(content))
        .setProtectedHeader({ ...header })
        .setInitializationVector(random(12))
        .encrypt(key),
    open: (segments) =>
      returnUndefinedIfForged(async () => {
        const options = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
        return (await compactDecrypt(segments.join('.'), key, options)).plaintext
      }),
  }
}

/** Creates a cipher for JWS compact. */
export async function createWebSigning(cipherKey: CipherKey): Promise<Cipher> {
  const key = await deriveWebKey(cipherKey, { name: 'HMAC', hash: 'SHA-256', length: 256 }, ['sign', 'verify'])
  return {
    seal: (content) => new CompactSign(encoder.encode(content)).setProtectedHeader({ ...cipherKey.header }).sign(key),
    open: (segments) =>
      returnUndefinedIfForged(
        async () => (await compactVerify(segments.join('.'), key, { algorithms: ['HS256'] })).payload,
      ),
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

/**
 * Returns the content of a token as text, or `undefined` if jose rejects the token as forged. Rethrows every other
 * error.
 */
async function returnUndefinedIfForged(decode: () => Promise<Uint8Array>): Promise<string | undefined> {
  try {
    return decoder.decode(await decode())
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
