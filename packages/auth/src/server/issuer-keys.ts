import { type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import type { AuthenticationContext } from './credentials.ts'
import { type CachedKeys, createKeyCache, type KeySource } from './key-cache.ts'
import { TokenError } from './token-error.ts'

/**
 * Returns the keys, usually one, that may have signed a token with this header. Rejects with a {@link TokenError}.
 */
export type FindKeys = (header: JWTHeaderParameters, context: AuthenticationContext) => Promise<readonly CryptoKey[]>

/** The keys of one issuer. */
export interface IssuerKeys {
  readonly findKeys: FindKeys
  /** Fetches keys when there are none. Rejects with a {@link TokenError} when that fails. */
  ready(): Promise<void>
}

const maxCandidateKeys = 8

/**
 * Finds the keys of one issuer in a cache. A token with an unknown key causes another fetch of the keys. The token is
 * rejected only when a fetch that began after its arrival did not return its key.
 */
export function createIssuerKeys(source: KeySource): IssuerKeys {
  const cache = createKeyCache(source)
  const searches = createKeySearches(source.now)

  const searchKeys = async (
    header: JWTHeaderParameters,
    arrivalNumber: number,
    context: AuthenticationContext,
  ): Promise<CachedKeys> => {
    const firstArrivalNumber = searches.recordArrival(header, arrivalNumber)
    // A fetch that began before the arrival may have been answered before the key was published.
    await cache.pendingFetch()
    const keys = await cache.load(context)
    const hasBeenSearched = keys.fetchNumber > firstArrivalNumber && source.now() - keys.fetchedAt < searchIntervalMs
    if (hasBeenSearched || (await hasMatchingKey(keys, header))) return keys
    const searchableAt = cache.pendingFetch() === undefined ? searches.take() : undefined
    if (searchableAt !== undefined) throw cache.createUnavailableError(searchableAt)
    try {
      return await cache.refresh(context)
    } catch (error) {
      searches.giveBack()
      throw error
    }
  }

  return {
    findKeys: async (header, context) => {
      const arrivalNumber = cache.lastFetchNumber()
      const knownKeys = await findMatchingKeys(await cache.load(context), header)
      if (knownKeys !== undefined && knownKeys.length > 0) return knownKeys
      const foundKeys = await findMatchingKeys(await searchKeys(header, arrivalNumber, context), header)
      if (foundKeys === undefined) throw cache.createUnavailableError()
      if (foundKeys.length > 0) return foundKeys
      throw new TokenError('unknown_key', `The issuer "${source.issuer}" has no key that fits the token's header`)
    },
    ready: async () => void (await cache.load()),
  }
}

const searchIntervalMs = 30_000
const maxSearchesInRow = 4
const maxArrivals = 100

/** Bounds the searches for keys, so that tokens with made-up keys do not become as many requests to the issuer. */
interface KeySearches {
  /** Returns the number of the last fetch that began before the first token with this key arrived. */
  recordArrival(header: JWTHeaderParameters, fetchNumber: number): number
  /** Takes one search: four in a row, then one in 30 seconds. Returns the time of the next one when there is none. */
  take(): number | undefined
  /** Gives back a search that did not reach the issuer. */
  giveBack(): void
}

function createKeySearches(now: () => number): KeySearches {
  const arrivals = new Map<string, number>()
  let remaining = maxSearchesInRow
  let refilledAt = now()
  return {
    recordArrival: ({ alg, kid }, fetchNumber) => {
      const key = JSON.stringify([alg, kid])
      const firstFetchNumber = arrivals.get(key) ?? fetchNumber
      const [oldestKey = key] = arrivals.keys()
      if (arrivals.size >= maxArrivals) arrivals.delete(oldestKey)
      arrivals.set(key, firstFetchNumber)
      return firstFetchNumber
    },
    take: () => {
      const refills = Math.floor((now() - refilledAt) / searchIntervalMs)
      refilledAt += refills * searchIntervalMs
      remaining = Math.min(maxSearchesInRow, remaining + refills)
      if (remaining === 0) return refilledAt + searchIntervalMs
      if (remaining === maxSearchesInRow) refilledAt = now()
      remaining -= 1
      return undefined
    },
    giveBack: () => {
      remaining = Math.min(maxSearchesInRow, remaining + 1)
    },
  }
}

async function hasMatchingKey(keys: CachedKeys, header: JWTHeaderParameters): Promise<boolean> {
  return ((await findMatchingKeys(keys, header)) ?? []).length > 0
}

// Returns undefined when a matching key cannot be used, which is a fault of the issuer.
async function findMatchingKeys(
  { keySet }: CachedKeys,
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
