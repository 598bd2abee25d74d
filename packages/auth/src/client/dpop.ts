import { BoundedMap, type OptionTable, resolveOptions } from '@x/core'
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { generateRandomNonce } from 'oauth4webapi'
import { sha256 } from '../digest.ts'
import type { Dpop, DpopBinding, DpopContext, NonceSource } from './dpop-binding.ts'
import { withLock } from './store.ts'
import { openRecords, type StoredKey } from './stored.ts'

/** Options of {@link dpop}. */
export interface DpopOptions {
  /** Rejects bearer tokens. Default: false, because an authorization server without DPoP issues nothing else. */
  readonly required?: boolean | undefined
  /**
   * An ES256 key pair that you store yourself, for example in IndexedDB, which can keep a private key that no script
   * can read. The public key must be extractable. By default a new pair is made and kept in the store, or in memory if
   * there is no store.
   */
  readonly keyPair?: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey } | undefined
}

interface ProofKey {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
  readonly thumbprint: string
}

const algorithm = 'ES256'
const maxNonces = 100
// RFC 9449, section 8.1: a nonce has the form `1*NQCHAR`.
const noncePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/

/**
 * Binds tokens to a key if the authorization server issues bound tokens (RFC 9449); every authorizer has the option
 * `dpop` for it. Each request carries a new proof of the key, so that a copy of the token is useless without the key.
 *
 * @example
 * const auth = oauth({ client, redirect, dpop: dpop({ required: true }) })
 *
 * @throws TypeError for a key pair that cannot create ES256 proofs.
 */
export function dpop(options: DpopOptions = {}): DpopBinding {
  resolveOptions(options, dpopOptionTable, 'dpop')
  if (options.keyPair !== undefined) checkKeyPair(options.keyPair)
  return { createDpop: (context) => createDpop(options, context) }
}

const dpopOptionTable = { required: undefined, keyPair: undefined } satisfies OptionTable<DpopOptions>

function createDpop({ required = false, keyPair }: DpopOptions, context: DpopContext): Dpop {
  const nonces = new BoundedMap<string, string>(maxNonces)
  const toNonceKey = (source: NonceSource, { origin }: URL): string => `${source} ${origin}`
  let pendingKey: Promise<ProofKey> | undefined
  const getKey = (): Promise<ProofKey> => {
    pendingKey ??= keyPair === undefined ? loadOrCreateKey(context) : toProofKey(keyPair)
    // After a failure, the next request tries the store again.
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
      nonces.set(toNonceKey(source, url), nonce)
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
  throw new TypeError('`keyPair` must be an ECDSA pair of P-256 that signs, with an extractable public key')
}

async function toProofKey({ privateKey, publicKey }: NonNullable<DpopOptions['keyPair']>): Promise<ProofKey> {
  const { kty, crv, x, y } = await exportJWK(publicKey)
  const jwk: JWK = { kty: kty ?? '', crv: crv ?? '', x: x ?? '', y: y ?? '' }
  return { privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
}

/** If the store has a lock, all processes that share it use one key. */
async function loadOrCreateKey({ store, isStored }: DpopContext): Promise<ProofKey> {
  if (!isStored) return toProofKey(await generateKeyPair(algorithm))
  const { keys } = openRecords(store)
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

/** Undefined for a record that is no key. A new key then replaces it, and the user has to log in again. */
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
