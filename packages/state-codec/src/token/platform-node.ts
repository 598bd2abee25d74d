import { Buffer } from 'node:buffer'
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { isCanonicalBase64url } from './base64url.ts'
import type { Cipher, CipherKey, Platform } from './platform.ts'
import { derivationSalt } from './platform.ts'
import { pooledRandom } from './random-pool.ts'

/** The platform's part in terms of `node:crypto`: a fraction of what Web Crypto costs a call. */
export const nodePlatform: Platform = {
  random: pooledRandom(randomBytes),
  digest: (text) => hash('sha256', text, 'base64url'),
  isCanonicalBase64url: (text) => (text.length <= shortText ? isCanonicalBase64url(text) : encodesToItself(text)),
  sealing,
  signing,
}

/** The longest text, in characters, whose characters are looked at sooner than they are decoded and encoded again. */
const shortText = 1024

function encodesToItself(text: string): boolean {
  return decode(text).toString('base64url') === text
}

/** As many bytes as the largest token has by default. */
const scratch = Buffer.allocUnsafeSlow(24 * 1024)

/** The bytes of a Base64url text, which hold until the next call: a new buffer for a long text costs several times what decoding it does. */
function decode(text: string): Buffer {
  if (text.length > (scratch.length / 3) * 4) return Buffer.from(text, 'base64url')
  return scratch.subarray(0, scratch.write(text, 'base64url'))
}

function derive({ secret, info }: CipherKey): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, derivationSalt, info, 32)))
}

function encodedHeader({ header }: CipherKey): string {
  return Buffer.from(JSON.stringify(header)).toString('base64url')
}

/** A tag that is shorter is easier to forge, and Node would take it. */
const wholeTag = { authTagLength: 16 }

// Whole buffers in and out: texts of `update` go through a decoder of streams, which costs as much as the cipher itself.
function sealing(from: CipherKey): Cipher {
  const key = derive(from)
  const header = encodedHeader(from)
  const additional = Buffer.from(header, 'ascii')
  return {
    protect(text, random) {
      const nonce = asBuffer(random(12))
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(additional)
      const content = cipher.update(text, 'utf8')
      // In this mode nothing is left for the end.
      cipher.final()
      return `${header}..${nonce.toString('base64url')}.${content.toString('base64url')}.${cipher.getAuthTag().toString('base64url')}`
    },
    recover([, , nonce = '', content = '', tag = '']) {
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), wholeTag)
      decipher.setAAD(additional)
      decipher.setAuthTag(Buffer.from(tag, 'base64url'))
      const text = decipher.update(decode(content))
      try {
        decipher.final()
      } catch {
        // OpenSSL says no more than that the tag does not fit.
        return undefined
      }
      return text.toString('utf8')
    },
  }
}

function signing(from: CipherKey): Cipher {
  const key = derive(from)
  const header = encodedHeader(from)
  const signature = (signed: string): Buffer => createHmac('sha256', key).update(signed).digest()
  return {
    protect(text) {
      const signed = `${header}.${Buffer.from(text).toString('base64url')}`
      return `${signed}.${signature(signed).toString('base64url')}`
    },
    recover([, content = '', given = '']) {
      const expected = signature(`${header}.${content}`)
      const found = Buffer.from(given, 'base64url')
      if (found.length !== expected.length || !timingSafeEqual(found, expected)) return undefined
      return decode(content).toString('utf8')
    },
  }
}

/** The same bytes; those of the pool are a buffer already. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
