import { type CryptoKey, importJWK, importPKCS8, type JWK } from 'jose'
import { type AuthorizationServer, PrivateKeyJwt } from 'oauth4webapi'
import { AuthError, quoteText } from './auth-error.ts'
import { toAuthenticatedClient, type AuthenticatedClient } from './server-requests.ts'

/** A private key that a client authenticates with (`private_key_jwt`, RFC 7523). */
export interface ClientKey {
  /** PEM text in PKCS #8, a JWK, or a key that was imported already. */
  readonly privateKey: string | JWK | CryptoKey
  /** The signature algorithm. Default: that of the JWK or of the imported key, else `ES256`. */
  readonly algorithm?: string | undefined
  /** The id under which the authorization server knows the key. */
  readonly keyId?: string | undefined
}

/** A client that one authorization server knows, with its credentials. */
export interface MachineClient {
  readonly id: string
  readonly key?: ClientKey | undefined
  /** A secret, for servers that take no signatures. */
  readonly secret?: string | undefined
  /** The way in which a secret is sent. Default: one that the server supports. */
  readonly method?: 'client_secret_basic' | 'client_secret_post' | undefined
}

/** Returns a client with its authentication at one server. */
export type ClientAuthenticator = (server: AuthorizationServer) => Promise<AuthenticatedClient>

/** Creates the authentication of a client. Throws a `TypeError` for a client without a key or a secret. */
export function requireClientAuthenticator(client: MachineClient): ClientAuthenticator {
  if (client.key !== undefined || client.secret) return createClientAuthenticator(client)
  throw new TypeError('`client` must have a `key` or a `secret`')
}

/** Creates the authentication of a client. A client without credentials is a public one. */
export function createClientAuthenticator({ id, key, secret, method }: MachineClient): ClientAuthenticator {
  if (key === undefined)
    return async (server) => toAuthenticatedClient({ id, secret, method, redirectUris: [] }, server)
  let importedKeyPromise: Promise<CryptoKey> | undefined
  return async () => {
    importedKeyPromise ??= importKey(key)
    const { keyId: kid } = key
    const signingKey = { key: await importedKeyPromise, ...(kid !== undefined && { kid }) }
    // RFC 7523, section 3: one minute, a `jti` of its own, and the issuer as the audience.
    return { client: { client_id: id }, auth: PrivateKeyJwt(signingKey) }
  }
}

async function importKey({ privateKey, algorithm }: ClientKey): Promise<CryptoKey> {
  try {
    const key = await readPrivateKey(privateKey, algorithm)
    if (!(key instanceof Uint8Array) && key.type === 'private' && key.usages.includes('sign')) return key
  } catch {
    // The cause may show the key.
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
