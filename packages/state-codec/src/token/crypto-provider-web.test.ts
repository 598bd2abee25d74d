import { hkdfSync } from 'node:crypto'
import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify } from 'jose'
import { expect, test } from 'vitest'
import { type CipherKey, derivationSalt } from './crypto-provider.ts'
import { createNodeEncryption, createNodeSigning, nodeCrypto } from './crypto-provider-node.ts'
import { createWebEncryption, createWebSigning, webCrypto } from './crypto-provider-web.ts'

const secret = webCrypto.random(32)
const encryptionKey: CipherKey = { secret, info: 'sealed p', header: { alg: 'dir', enc: 'A256GCM', kid: 'a' } }
const signingKey: CipherKey = { secret, info: 'signed p', header: { alg: 'HS256', kid: 'a', typ: 'p' } }
const contents = ['', 'a', '\u{feff}["ü",1]', 'text '.repeat(4000)]

const encoder = new TextEncoder()

function joseKeyOf({ info }: CipherKey): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, derivationSalt, info, 32))
}

const platforms = [
  ['Web Crypto', webCrypto, createWebEncryption, createWebSigning],
  ['node:crypto', nodeCrypto, createNodeEncryption, createNodeSigning],
] as const

test.each(platforms)('jose opens what %s encrypts, and the reverse', async (_, { random }, createEncryption) => {
  const cipher = await createEncryption(encryptionKey)
  const key = joseKeyOf(encryptionKey)
  for (const content of contents) {
    const { plaintext, protectedHeader } = await compactDecrypt(await cipher.seal(content, random), key)
    expect(plaintext).toEqual(encoder.encode(content))
    expect(protectedHeader).toEqual(encryptionKey.header)
    const token = await new CompactEncrypt(encoder.encode(content)).setProtectedHeader(protectedHeader).encrypt(key)
    expect(await cipher.open(token.split('.'))).toBe(content)
  }
})

test.each(platforms)(
  'jose verifies what %s signs, and the reverse',
  async (_, { random }, _encryption, createSigning) => {
    const cipher = await createSigning(signingKey)
    const key = joseKeyOf(signingKey)
    for (const content of contents) {
      const { payload, protectedHeader } = await compactVerify(await cipher.seal(content, random), key)
      expect(payload).toEqual(encoder.encode(content))
      expect(protectedHeader).toEqual(signingKey.header)
      const token = await new CompactSign(encoder.encode(content))
        .setProtectedHeader({ ...signingKey.header })
        .sign(key)
      expect(await cipher.open(token.split('.'))).toBe(content)
    }
  },
)
