import { Buffer } from 'node:buffer'
import nodeModule, {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { createRandomPool } from '@x/core'
import { isCanonicalBase64url } from './base64url.ts'
import { type Cipher, type CipherKey, type CryptoProvider, derivationSalt } from './crypto-provider.ts'

/** `node:crypto` costs a fraction of what Web Crypto does. */
export const nodeCrypto: CryptoProvider = {
  random: createRandomPool(randomBytes),
  // Imported by name, `hash` would end Node 18 before `@x/core` can say which Node is needed.
  digest: (text) => nodeModule.hash('sha256', text, 'base64url'),
  isCanonicalBase64url: (text) =>
    text.length <= maxScannedLength ? isCanonicalBase64url(text) : decodeToBuffer(text).toString('base64url') === text,
}

/** Up to so many characters, scanning a text is faster than decoding and encoding it again. */
const maxScannedLength = 1024

/** As large as the decoded content of the largest token. */
const scratchBuffer = Buffer.allocUnsafeSlow(24 * 1024)

/**
 * Valid only until the next call, because the buffer is shared: for a long text, a new one would cost several times as
 * much as the decoding.
 */
function decodeToBuffer(text: string): Buffer {
  if (text.length > (scratchBuffer.length / 3) * 4) return Buffer.from(text, 'base64url')
  return scratchBuffer.subarray(0, scratchBuffer.write(text, 'base64url'))
}

function deriveNodeKey({ secret, info }: CipherKey): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, derivationSalt, info, 32)))
}

function encodeHeader({ header }: CipherKey): string {
  return Buffer.from(JSON.stringify(header)).toString('base64url')
}

/** Require a whole tag. Node would accept a shorter one, which is easier to forge. */
const gcmOptions = { authTagLength: 16 }

/**
 * JWE compact. `update` returns buffers: for a string it would create a stream decoder, which costs as much as the
 * cipher itself.
 */
export function createNodeEncryption(cipherKey: CipherKey): Cipher {
  const key = deriveNodeKey(cipherKey)
  const header = encodeHeader(cipherKey)
  const additionalData = Buffer.from(header, 'ascii')
  return {
    seal(content, random) {
      const nonce = toBuffer(random(12))
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(additionalData)
      const ciphertext = cipher.update(content, 'utf8')
      // In GCM `final` returns no bytes.
      cipher.final()
      return `${header}..${nonce.toString('base64url')}.${ciphertext.toString('base64url')}.${cipher.getAuthTag().toString('base64url')}`
    },
    open([, , nonce = '', content = '', tag = '']) {
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), gcmOptions)
      decipher.setAAD(additionalData)
      decipher.setAuthTag(Buffer.from(tag, 'base64url'))
      const plaintext = decipher.update(decodeToBuffer(content))
      try {
        decipher.final()
      } catch {
        // OpenSSL reports no other error here than a tag that does not match.
        return undefined
      }
      return plaintext.toString('utf8')
    },
  }
}

/** JWS compact. */
export function createNodeSigning(cipherKey: CipherKey): Cipher {
  const key = deriveNodeKey(cipherKey)
  const header = encodeHeader(cipherKey)
  const computeSignature = (signedText: string): Buffer => createHmac('sha256', key).update(signedText).digest()
  return {
    seal(content) {
      const signedText = `${header}.${Buffer.from(content).toString('base64url')}`
      return `${signedText}.${computeSignature(signedText).toString('base64url')}`
    },
    open([, content = '', signature = '']) {
      const expectedSignature = computeSignature(`${header}.${content}`)
      const givenSignature = Buffer.from(signature, 'base64url')
      if (givenSignature.length !== expectedSignature.length || !timingSafeEqual(givenSignature, expectedSignature))
        return undefined
      return Buffer.from(content, 'base64url').toString('utf8')
    },
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
