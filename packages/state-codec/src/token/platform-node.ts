import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Cipher, CipherKey, Platform } from './platform.ts'
import { derivationSalt } from './platform.ts'

/** The platform's part in terms of `node:crypto`: a fraction of what Web Crypto costs a call. */
export const nodePlatform: Platform = {
  random: (bytes) => randomBytes(bytes),
  digest: (text) => hash('sha256', text, 'buffer'),
  sealing,
  signing,
}

function derive({ secret, info }: CipherKey): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, derivationSalt, info, 32))
}

function sealing(from: CipherKey): Cipher {
  const key = derive(from)
  const header = Buffer.from(JSON.stringify(from.header)).toString('base64url')
  const additional = Buffer.from(header, 'ascii')
  return {
    protect(text, random) {
      const nonce = random(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(additional)
      const content = cipher.update(text, 'utf8', 'base64url') + cipher.final('base64url')
      return `${header}..${Buffer.from(nonce).toString('base64url')}.${content}.${cipher.getAuthTag().toString('base64url')}`
    },
    recover(token) {
      const [, , nonce = '', content = '', tag = ''] = token.split('.')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
        decipher.setAAD(additional)
        decipher.setAuthTag(Buffer.from(tag, 'base64url'))
        return decipher.update(content, 'base64url', 'utf8') + decipher.final('utf8')
      } catch {
        // OpenSSL says no more than that the tag does not fit.
        return undefined
      }
    },
  }
}

function signing(from: CipherKey): Cipher {
  const key = derive(from)
  const header = Buffer.from(JSON.stringify(from.header)).toString('base64url')
  const signature = (signed: string): Buffer => createHmac('sha256', key).update(signed).digest()
  return {
    protect(text) {
      const signed = `${header}.${Buffer.from(text).toString('base64url')}`
      return `${signed}.${signature(signed).toString('base64url')}`
    },
    recover(token) {
      const [, content = '', given = ''] = token.split('.')
      const expected = signature(`${header}.${content}`)
      const found = Buffer.from(given, 'base64url')
      if (found.length !== expected.length || !timingSafeEqual(found, expected)) return undefined
      return Buffer.from(content, 'base64url').toString('utf8')
    },
  }
}
