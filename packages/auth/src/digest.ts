import { base64url } from 'jose'

/** SHA-256 in base64url. */
export function sha256(value: string | Uint8Array): string | Promise<string> {
  return nodeCrypto === undefined ? webSha256(value) : nodeCrypto.hash('sha256', value, 'base64url')
}

async function webSha256(value: string | Uint8Array): Promise<string> {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(value)
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

// Node's own hash, where it exists: Web Crypto hashes in another thread, and for a few bytes the transfer takes longer
// than all other checks of a known token.
const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto')
