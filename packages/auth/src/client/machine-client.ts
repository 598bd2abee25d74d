import { quoteText } from '@x/core'
import { type CryptoKey, importJWK, importPKCS8, type JWK } from 'jose'
import { type AuthorizationServer, PrivateKeyJwt } from 'oauth4webapi'
import { AuthError } from './auth-error.ts'
import { toAuthenticatedClient, type AuthenticatedClient } from './server-requests.ts'

/** A private key with which a client authenticates (`private_key_jwt`, RFC 7523). */
export interface ClientKey {
  /** PEM text in PKCS #8, a JWK, or an imported `CryptoKey`. */
  readonly privateKey: string | JWK | CryptoKey
  /** Signature algorithm. Default: that of the JWK or of the imported key, else `ES256`. */
  readonly algorithm?: string | undefined
  /** Id of the key at the authorization server. */
  readonly keyId?: string | undefined
}

/** A client that is registered at one authorization server, with its credentials. */
export interface MachineClient {
  readonly id: string
  readonly key?: ClientKey | undefined
  /** A secret, for a client without a `key`. Not used if `key` is given. */
  readonly secret?: string | undefined
  /** How the secret is sent. Default: a method that the server supports. */
  readonly method?: 'client_secret_basic' | 'client_secret_post' | undefined
}

/** A client for requests to a server, with the way in which it authenticates there. */
export type ClientAuthenticator = (server: AuthorizationServer) => Promise<AuthenticatedClient>

/** Throws a `TypeError` for a client without a key or a secret. */
export function requireClientAuthenticator(client: MachineClient): ClientAuthenticator {
  if (client.key !== undefined || client.secret) return createClientAuthenticator(client)
  throw new TypeError('`client` must have a `key` or a `secret`')
}

/** A client without a key and a secret is a public one. */
export function createClientAuthenticator({ id, key, secret, method }: MachineClient): ClientAuthenticator {
  if (key === undefined)
    return async (server) => toAuthenticatedClient({ id, secret, method, redirectUris: [] }, server)
  let importedKeyPromise: Promise<CryptoKey> | undefined
  return async () => {
    importedKeyPromise ??= importKey(key)
    const { keyId: kid } = key
    const signingKey = { key: await importedKeyPromise, ...(kid !== undefined && { kid }) }
    // RFC 7523, section 3: the library signs an assertion that is valid for one minute, has its own `jti`, and names
    // the issuer as its audience.
    return { client: { client_id: id }, auth: PrivateKeyJwt(signingKey) }
  }
}

async function importKey({ privateKey, algorithm }: ClientKey): Promise<CryptoKey> {
  try {
    const key = await readPrivateKey(privateKey, algorithm)
    if (!(key instanceof Uint8Array) && key.type === 'private' && key.usages.includes('sign')) return key
  } catch {
    // Without the cause, which may contain the key.
  }
  const expectedForm =
    typeof privateKey === 'string' ? 'PEM text that begins with "BEGIN PRIVATE KEY" (PKCS #8)' : 'that signs'
  const algorithmText = algorithm === undefined ? '' : ` for ${quoteText(algorithm)}`
  throw new AuthError(
    'key_invalid',
    `The key of the client cannot be used: it must be a private key${algorithmText}, ${expectedForm}`,
  )
}

async function readPrivateKey(
  key: ClientKey['privateKey'],
  algorithm: string | undefined,
): Promise<CryptoKey | Uint8Array> {
  if (typeof key === 'string') return importPKCS8(key, algorithm ?? 'ES256')
  return isCryptoKey(key) ? key : importJWK(key, algorithm ?? key.alg ?? 'ES256')
}

function isCryptoKey(key: JWK | CryptoKey): key is CryptoKey {
  return 'usages' in key
}
