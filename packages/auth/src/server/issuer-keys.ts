import { type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import type { AuthenticationContext } from './credentials.ts'
import { type CachedKeys, KeyCache, type KeySource } from './key-cache.ts'
import { TokenError } from './token-error.ts'

const maxCandidateKeys = 8

/**
 * Looks an issuer's keys up in a cache. An unknown key makes it fetch again, and a token is rejected only if its key is
 * missing in a fetch that began after the token had arrived.
 */
export class IssuerKeys {
  readonly #source: KeySource
  readonly #cache: KeyCache
  readonly #searches: KeySearches

  constructor(source: KeySource) {
    this.#source = source
    this.#cache = new KeyCache(source)
    this.#searches = new KeySearches(source.now)
  }

  /** Finds the keys that may have signed a token with this header, usually one. Rejects with a {@link TokenError}. */
  async find(header: JWTHeaderParameters, context: AuthenticationContext): Promise<readonly CryptoKey[]> {
    const arrivalNumber = this.#cache.lastFetchNumber
    const knownKeys = await findMatchingKeys(await this.#cache.load(context), header)
    if (knownKeys !== undefined && knownKeys.length > 0) return knownKeys
    const foundKeys = await findMatchingKeys(await this.#search(header, arrivalNumber, context), header)
    if (foundKeys === undefined) throw this.#cache.createUnavailableError()
    if (foundKeys.length > 0) return foundKeys
    throw new TokenError('unknown_key', `The issuer "${this.#source.issuer}" has no key that fits the token's header`)
  }

  /** Fetches the keys if none are cached. Rejects with a {@link TokenError} if this fails. */
  async ready(): Promise<void> {
    await this.#cache.load()
  }

  async #search(
    header: JWTHeaderParameters,
    arrivalNumber: number,
    context: AuthenticationContext,
  ): Promise<CachedKeys> {
    const firstArrivalNumber = this.#searches.recordArrival(header, arrivalNumber)
    // It may have begun before the issuer published the key, so its result does not count.
    await this.#cache.pendingFetch
    const keys = await this.#cache.load(context)
    const ageMs = this.#source.now() - keys.fetchedAt
    const hasBeenSearched = keys.fetchNumber > firstArrivalNumber && ageMs < searchIntervalMs
    if (hasBeenSearched || (await hasMatchingKey(keys, header))) return keys
    const searchableAt = this.#cache.pendingFetch === undefined ? this.#searches.take() : undefined
    if (searchableAt !== undefined) throw this.#cache.createUnavailableError(searchableAt)
    try {
      return await this.#cache.refresh(context)
    } catch (error) {
      this.#searches.giveBack()
      throw error
    }
  }
}

const searchIntervalMs = 30_000
const maxSearchesInRow = 4
const maxArrivals = 100

/**
 * Limits the fetches that search for a key, so that a client with invented keys cannot cause many requests to the
 * issuer.
 */
class KeySearches {
  readonly #now: () => number
  readonly #arrivals = new Map<string, number>()
  #remaining = maxSearchesInRow
  #refilledAt: number

  constructor(now: () => number) {
    this.#now = now
    this.#refilledAt = now()
  }

  /**
   * A token with an unknown key has arrived. Returns the number of the last fetch that had begun when the first token
   * with this key arrived.
   */
  recordArrival({ alg, kid }: JWTHeaderParameters, fetchNumber: number): number {
    const key = JSON.stringify([alg, kid])
    const firstFetchNumber = this.#arrivals.get(key) ?? fetchNumber
    const [oldestKey = key] = this.#arrivals.keys()
    if (this.#arrivals.size >= maxArrivals) this.#arrivals.delete(oldestKey)
    this.#arrivals.set(key, firstFetchNumber)
    return firstFetchNumber
  }

  /**
   * Takes one of the allowed searches: up to four in a row, and one more for each 30 seconds. Undefined if the search
   * is allowed, or else when the next one is.
   */
  take(): number | undefined {
    const refills = Math.floor((this.#now() - this.#refilledAt) / searchIntervalMs)
    this.#refilledAt += refills * searchIntervalMs
    this.#remaining = Math.min(maxSearchesInRow, this.#remaining + refills)
    if (this.#remaining === 0) return this.#refilledAt + searchIntervalMs
    if (this.#remaining === maxSearchesInRow) this.#refilledAt = this.#now()
    this.#remaining -= 1
    return undefined
  }

  giveBack(): void {
    this.#remaining = Math.min(maxSearchesInRow, this.#remaining + 1)
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
