import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const key = randomBytes(32)
const ivBytes = 12
const tagBytes = 16

/** The minimum for an encrypted token: JSON, AES-256-GCM with a fresh IV, and Base64url, without claims or checks. */
export const bareToken = {
  seal(value: unknown): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', key, iv)
    const content = cipher.update(JSON.stringify(value), 'utf8')
    cipher.final()
    return Buffer.concat([iv, content, cipher.getAuthTag()]).toString('base64url')
  },
  open(token: string): unknown {
    const bytes = Buffer.from(token, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    return JSON.parse(decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8'))
  },
}
