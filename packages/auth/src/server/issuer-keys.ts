import { type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import type { AuthenticationContext } from './credentials.ts'
import { type CachedKeys, createKeyCache, type KeySource } from './key-cache.ts'
import { TokenError } from './token-error.ts'

/** Finds the keys that may have signed a token with this header, usually one. Rejects with a {@link TokenError}. */
export type FindKeys = (header: JWTHeaderParameters, context: AuthenticationContext) => Promise<readonly CryptoKey[]>

const maxCandidateKeys = 8

/**
 * Looks an issuer's keys up in a cache. An unknown key makes it fetch again, and a token is rejected only if its key is
 * missing in a fetch that began after the token had arrived.
 */
export function createIssuerKeys(source: KeySource): {
  readonly findKeys: FindKeys
  /** Fetches the keys if none are cached. Rejects with a {@link TokenError} if this fails. */
  ready(): Promise<void>
} {
  const cache = createKeyCache(source)
  const searches = createKeySearches(source.now)

  const searchKeys = async (
    header: JWTHeaderParameters,
    arrivalNumber: number,
    context: AuthenticationContext,
  ): Promise<CachedKeys> => {
    const firstArrivalNumber = searches.recordArrival(header, arrivalNumber)
    // It may have begun before the issuer published the key, so its result does not count.
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

/**
 * Limits the fetches that search for a key, so that a client with invented keys cannot cause many requests to the
 * issuer.
 */
interface KeySearches {
  /**
   * A token with an unknown key has arrived. Returns the number of the last fetch that had begun when the first token
   * with this key arrived.
   */
  recordArrival(header: JWTHeaderParameters, fetchNumber: number): number
  /**
   * Takes one of the allowed searches: up to four in a row, and one more for each 30 seconds. Undefined if the search
   * is allowed, or else when the next one is.
   */
  take(): number | undefined
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

// Undefined if a matching key cannot be used, because the issuer published a broken one.
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
