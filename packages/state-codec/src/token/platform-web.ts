import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify, errors } from 'jose'
import { encodeBase64url, isCanonicalBase64url } from './base64url.ts'
import type { Cipher, CipherKey, Platform } from './platform.ts'
import { derivationSalt } from './platform.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The platform's part in terms of Web Crypto, with jose for the format of the tokens. */
export const webPlatform: Platform = {
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  digest: async (text) => encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))),
  isCanonicalBase64url,
  sealing,
  signing,
}

async function sealing(from: CipherKey): Promise<Cipher> {
  const key = await derive(from, { name: 'AES-GCM', length: 256 }, ['encrypt', 'decrypt'])
  const { header } = from
  if (header.alg !== 'dir') throw new TypeError('sealing needs a header with the algorithm "dir"')
  return {
    protect: (text, random) =>
      new CompactEncrypt(encoder.encode(text))
        .setProtectedHeader({ ...header })
        .setInitializationVector(random(12))
        .encrypt(key),
    recover: (segments) =>
      unlessForged(async () => {
        const options = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
        return (await compactDecrypt(segments.join('.'), key, options)).plaintext
      }),
  }
}

async function signing(from: CipherKey): Promise<Cipher> {
  const key = await derive(from, { name: 'HMAC', hash: 'SHA-256', length: 256 }, ['sign', 'verify'])
  return {
    protect: (text) => new CompactSign(encoder.encode(text)).setProtectedHeader({ ...from.header }).sign(key),
    recover: (segments) =>
      unlessForged(async () => (await compactVerify(segments.join('.'), key, { algorithms: ['HS256'] })).payload),
  }
}

type DerivedAlgorithm = { name: 'AES-GCM'; length: number } | { name: 'HMAC'; hash: string; length: number }
type KeyUse = 'encrypt' | 'decrypt' | 'sign' | 'verify'

async function derive({ secret, info }: CipherKey, algorithm: DerivedAlgorithm, uses: KeyUse[]) {
  const root = await crypto.subtle.importKey('raw', new Uint8Array(secret), 'HKDF', false, ['deriveKey'])
  const salt = encoder.encode(derivationSalt)
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt, info: encoder.encode(info) }
  return crypto.subtle.deriveKey(derivation, root, algorithm, false, uses)
}

/** jose's refusals are a forgery; anything else is a fault that must not look like one. */
async function unlessForged(work: () => Promise<Uint8Array>): Promise<string | undefined> {
  try {
    return decoder.decode(await work())
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
