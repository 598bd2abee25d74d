import { createLocalJWKSet, type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import type { FetchFunction } from '../bounded-fetch.ts'
import { parseSecureUrl } from '../oauth-urls.ts'
import { fetchJson, discoverIssuerMetadata } from './issuer-requests.ts'
import { TokenError } from './token-error.ts'

/** Location of an issuer's keys, and the means to fetch them. */
export interface KeySource {
  readonly issuer: string
  /** Read from the issuer's metadata when absent. */
  readonly jwksUri: string | undefined
  readonly fetch: FetchFunction
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called when keys could not be fetched, whether or not older ones are still used. */
  readonly onError: (error: unknown) => void
}

/**
 * Returns the keys, usually one, that may have signed a token with this header. Rejects with a {@link TokenError}.
 */
export type FindKeys = (header: JWTHeaderParameters) => Promise<readonly CryptoKey[]>

type KeySet = ReturnType<typeof createLocalJWKSet>

const refreshAfterMs = 600_000
const maxKeyAgeMs = 86_400_000
const minRefreshIntervalMs = 30_000
const maxCandidateKeys = 8

/**
 * Keeps the keys of one issuer. They are fetched anew after 10 minutes, and when a token names a key that is not among
 * them, for that at most once in 30 seconds. When the issuer cannot be reached, the last set is used for a day; it is
 * asked again after 30 seconds.
 */
export function createIssuerKeyFinder(source: KeySource): FindKeys {
  let cachedKeySet: { readonly keySet: KeySet; readonly fetchedAt: number } | undefined
  let failedAt: number | undefined
  let searchedAt: number | undefined
  let pendingRefresh: Promise<void> | undefined

  const refreshKeys = (): Promise<void> => {
    pendingRefresh ??= fetchKeys(source)
      .then(
        (keySet) => {
          cachedKeySet = { keySet, fetchedAt: source.now() }
          failedAt = undefined
        },
        (error: unknown) => {
          failedAt = source.now()
          source.onError(
            new TokenError('issuer_unavailable', `No keys of "${source.issuer}" could be fetched`, { cause: error }),
          )
        },
      )
      .finally(() => {
        pendingRefresh = undefined
      })
    return pendingRefresh
  }

  const hasElapsed = (time: number | undefined, ms: number) => time === undefined || source.now() - time >= ms
  const loadKeySet = async (): Promise<KeySet> => {
    const isStale = cachedKeySet === undefined || hasElapsed(cachedKeySet.fetchedAt, refreshAfterMs)
    if (isStale && hasElapsed(failedAt, minRefreshIntervalMs)) await refreshKeys()
    if (cachedKeySet === undefined || hasElapsed(cachedKeySet.fetchedAt, maxKeyAgeMs))
      throw createKeysUnavailableError(source)
    return cachedKeySet.keySet
  }

  return async (header) => {
    const knownKeys = await findMatchingKeys(await loadKeySet(), header)
    if (knownKeys !== undefined && knownKeys.length > 0) return knownKeys
    // The issuer may have made a new key since. Tokens with keys that nobody has must not become as many requests.
    if (hasElapsed(searchedAt, minRefreshIntervalMs)) {
      searchedAt = source.now()
      await refreshKeys()
    } else if (pendingRefresh !== undefined) await pendingRefresh
    const foundKeys = await findMatchingKeys(await loadKeySet(), header)
    if (foundKeys === undefined) throw createKeysUnavailableError(source)
    if (foundKeys.length > 0) return foundKeys
    if (failedAt !== undefined) throw createKeysUnavailableError(source)
    throw new TokenError('unknown_key', `The issuer "${source.issuer}" has no key that fits the token's header`)
  }
}

function createKeysUnavailableError({ issuer }: KeySource): TokenError {
  return new TokenError('issuer_unavailable', `The keys of "${issuer}" cannot be used at present`)
}

async function fetchKeys({ issuer, jwksUri, fetch }: KeySource): Promise<KeySet> {
  const url = jwksUri ?? (await discoverIssuerMetadata(issuer, fetch))['jwks_uri']
  if (typeof url !== 'string') throw new Error(`The metadata of "${issuer}" has no jwks_uri: give jwksUri in issuers`)
  const keySetJson = await fetchJson(parseSecureUrl('jwks_uri', url).href, fetch)
  if (keySetJson === undefined) throw new Error(`There is no key set at ${url}`)
  // jose checks the set as a whole here, and each key when it is first used.
  return createLocalJWKSet(keySetJson as unknown as Parameters<typeof createLocalJWKSet>[0])
}

// Undefined when a key matches and cannot be used, which is its issuer's fault.
async function findMatchingKeys(
  keySet: KeySet,
  header: JWTHeaderParameters,
): Promise<readonly CryptoKey[] | undefined> {
  try {
    return [await keySet(header)]
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return []
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return undefined
    const keys: CryptoKey[] = []
    for await (const key of error) {
      keys.push(key)
      if (keys.length === maxCandidateKeys) break
    }
    return keys
  }
}
