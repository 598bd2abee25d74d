import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { generateRandomNonce } from 'oauth4webapi'
import { sha256 } from '../digest.ts'
import { withLock } from './store.ts'
import type { AuthRecords, StoredKey, StoredToken } from './stored.ts'

/** Options that bind tokens to a key (RFC 9449). */
export interface DpopOptions {
  /**
   * `true`: tokens that are not bound are not used. Default: authorization servers without DPoP issue bearer tokens.
   */
  readonly required?: boolean | undefined
  /**
   * An ES256 key pair that the program keeps itself, such as one of IndexedDB that no script can read. Its public key
   * has to be extractable. Default: a pair that is kept in the store, or in memory where no store is given.
   */
  readonly keyPair?: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey } | undefined
}

/** The kind of server that a nonce is of: one origin may have a nonce of each kind. */
export type NonceSource = 'authorization' | 'resource'

/** One request to prove the possession of the key for. */
export interface ProofRequest {
  readonly nonceSource: NonceSource
  readonly url: URL
  readonly method: string
  /** The token that the request carries. */
  readonly accessToken?: string | undefined
}

/** The key of a client, and the nonces that servers have given it. */
export interface Dpop {
  readonly isRequired: boolean
  /** Returns the thumbprint of the public key (RFC 7638), which tokens are bound to. */
  getThumbprint(): Promise<string>
  /** Returns a proof for one request. A second request needs another (RFC 9449, section 4.2). */
  createProof(request: ProofRequest): Promise<string>
  nonceOf(source: NonceSource, url: URL): string | undefined
  /** Keeps the nonce that a response brought, for the next proof (RFC 9449, section 8.2). */
  rememberNonce(source: NonceSource, url: URL, nonce: string | null | undefined): void
}

interface ProofKey {
  readonly privateKey: CryptoKey
  /** The public key alone. */
  readonly jwk: JWK
  readonly thumbprint: string
}

const algorithm = 'ES256'
const maxNonces = 100
// RFC 9449, section 8.1: 1*NQCHAR.
const noncePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/

/** Makes the proofs of a client. Throws a `TypeError` for a key pair that makes no ES256 proofs. */
function createDpop(
  { required = false, keyPair }: DpopOptions,
  context: { readonly records: AuthRecords; readonly isStored: boolean; readonly now: () => number },
): Dpop {
  if (keyPair !== undefined) checkKeyPair(keyPair)
  const nonces = new Map<string, string>()
  const toNonceKey = (source: NonceSource, { origin }: URL): string => `${source} ${origin}`
  let pendingKey: Promise<ProofKey> | undefined
  const getKey = (): Promise<ProofKey> => {
    pendingKey ??= keyPair === undefined ? loadOrCreateKey(context.records, context.isStored) : toProofKey(keyPair)
    // A store that is unreachable now may be reachable for the next request.
    pendingKey.catch(() => (pendingKey = undefined))
    return pendingKey
  }
  const nonceOf = (source: NonceSource, url: URL): string | undefined => nonces.get(toNonceKey(source, url))
  return {
    isRequired: required,
    getThumbprint: async () => (await getKey()).thumbprint,
    nonceOf,
    rememberNonce: (source, url, nonce) => {
      if (!nonce || !noncePattern.test(nonce)) return
      const nonceMapKey = toNonceKey(source, url)
      nonces.delete(nonceMapKey)
      const [oldestKey] = nonces.keys()
      if (nonces.size >= maxNonces && oldestKey !== undefined) nonces.delete(oldestKey)
      nonces.set(nonceMapKey, nonce)
    },
    createProof: async ({ nonceSource, url, method, accessToken }) => {
      const { privateKey, jwk } = await getKey()
      const claims = {
        jti: generateRandomNonce(),
        htm: method,
        htu: url.origin + url.pathname,
        nonce: nonceOf(nonceSource, url),
        ath: accessToken === undefined ? undefined : await sha256(accessToken),
      }
      return new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, typ: 'dpop+jwt', jwk })
        .setIssuedAt(Math.floor(context.now() / 1000))
        .sign(privateKey)
    },
  }
}

function checkKeyPair({ privateKey, publicKey }: NonNullable<DpopOptions['keyPair']>): void {
  const isP256Key = (key: CryptoKey): boolean => 'namedCurve' in key.algorithm && key.algorithm.namedCurve === 'P-256'
  const isSigningKey = privateKey.type === 'private' && privateKey.usages.includes('sign') && isP256Key(privateKey)
  if (isSigningKey && publicKey.type === 'public' && publicKey.extractable && isP256Key(publicKey)) return
  throw new TypeError('`dpop.keyPair` must be an ECDSA pair of P-256 that signs, with an extractable public key')
}

async function toProofKey({ privateKey, publicKey }: NonNullable<DpopOptions['keyPair']>): Promise<ProofKey> {
  const { kty, crv, x, y } = await exportJWK(publicKey)
  const jwk: JWK = { kty: kty ?? '', crv: crv ?? '', x: x ?? '', y: y ?? '' }
  return { privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
}

/** Takes the key out of the store, or makes one: once over all processes that share the store with a lock. */
async function loadOrCreateKey({ store, keys }: AuthRecords, isStored: boolean): Promise<ProofKey> {
  if (!isStored) return toProofKey(await generateKeyPair(algorithm))
  const storageKey = keys.toKey('dpop')
  return withLock(store, storageKey, async () => {
    const storedKey = await keys.read(storageKey)
    const importedProofKey = storedKey && (await importStoredKey(storedKey))
    if (importedProofKey !== undefined) return importedProofKey
    const generatedPair = await generateKeyPair(algorithm, { extractable: true })
    const { x = '', y = '', d = '' } = await exportJWK(generatedPair.privateKey)
    await keys.write(storageKey, { x, y, d })
    return toProofKey(generatedPair)
  })
}

/** Returns `undefined` for what is no key: the worst that follows is a login. */
async function importStoredKey({ x, y, d }: StoredKey): Promise<ProofKey | undefined> {
  const jwk = { kty: 'EC', crv: 'P-256', x, y }
  try {
    const privateKey = await importJWK({ ...jwk, d }, algorithm)
    if (privateKey instanceof Uint8Array) return undefined
    return { privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
  } catch {
    return undefined
  }
}

/** Makes the proofs that an option asks for. */
export function resolveDpop(
  dpopOption: boolean | DpopOptions | undefined,
  context: Parameters<typeof createDpop>[1],
): Dpop | undefined {
  if (dpopOption === undefined || dpopOption === false) return undefined
  return createDpop(dpopOption === true ? {} : dpopOption, context)
}

/** True for a bearer token where those are allowed, and for one that is bound to this key. */
export async function matchesBinding(dpop: Dpop | undefined, { thumbprint }: StoredToken): Promise<boolean> {
  if (thumbprint === undefined) return dpop?.isRequired !== true
  return dpop !== undefined && (await dpop.getThumbprint()) === thumbprint
}
