import { BoundedMap } from '@x/core'
import { type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import type { AuthenticationContext } from '@x/exchange'
import { type CachedKeys, KeyCache, type KeySource } from './key-cache.ts'
import { isTokenError, TokenError } from './token-error.ts'

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
    this.#searches = new KeySearches(source.monotonicNow)
  }

  /**
   * Calls `verify` with the keys that may have signed a token with this header, usually one. If the signature fits none,
   * and newer keys are found, calls it with those: the issuer may have replaced a key without another id. Rejects with a
   * {@link TokenError}.
   */
  async verifyWith<T>(
    header: JWTHeaderParameters,
    context: AuthenticationContext,
    verify: (keys: readonly CryptoKey[]) => Promise<T>,
  ): Promise<T> {
    const arrival = { header, fetchNumber: this.#cache.lastFetchNumber, context }
    const keys = await this.#find(arrival)
    try {
      return await verify(keys)
    } catch (error) {
      if (!isTokenError(error) || error.code !== 'invalid_signature') throw error
      const newerKeys = await this.#findNewer(arrival)
      if (newerKeys.length === 0) throw error
      return verify(newerKeys)
    }
  }

  async #find(arrival: TokenArrival): Promise<readonly CryptoKey[]> {
    const { header, context } = arrival
    const knownKeys = await findMatchingKeys(await this.#cache.load(context), header)
    if (knownKeys !== undefined && knownKeys.length > 0) return knownKeys
    const foundKeys = await findMatchingKeys(
      await this.#search(arrival, (keys) => hasMatchingKey(keys, header)),
      header,
    )
    if (foundKeys === undefined) throw this.#cache.createUnavailableError()
    if (foundKeys.length > 0) return foundKeys
    throw new TokenError('unknown_key', `The issuer "${this.#source.issuer}" has no key that fits the token's header`)
  }

  /** Fetches the keys if none are cached. Rejects with a {@link TokenError} if this fails. */
  async ready(): Promise<void> {
    await this.#cache.load()
  }

  /** None if the keys are not newer than the token, or a search is not allowed at present. */
  async #findNewer(arrival: TokenArrival): Promise<readonly CryptoKey[]> {
    const isNewer = ({ fetchNumber }: CachedKeys): boolean => fetchNumber > arrival.fetchNumber
    try {
      const keys = await this.#search(arrival, async (cachedKeys) => isNewer(cachedKeys))
      return isNewer(keys) ? ((await findMatchingKeys(keys, arrival.header)) ?? []) : []
    } catch (error) {
      if (isTokenError(error)) return []
      throw error
    }
  }

  async #search(
    { header, fetchNumber, context }: TokenArrival,
    isFound: (keys: CachedKeys) => Promise<boolean>,
  ): Promise<CachedKeys> {
    const firstArrivalNumber = this.#searches.recordArrival(header, fetchNumber)
    // It may have begun before the issuer published the key, so its result does not count.
    await this.#cache.pendingFetch
    const keys = await this.#cache.load(context)
    const ageMs = this.#source.monotonicNow() - keys.fetchedAt
    const hasBeenSearched = keys.fetchNumber > firstArrivalNumber && ageMs < searchIntervalMs
    if (hasBeenSearched || (await isFound(keys))) return keys
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

/** A token that has arrived, after the fetch of keys with this number had begun. */
interface TokenArrival {
  readonly header: JWTHeaderParameters
  readonly fetchNumber: number
  readonly context: AuthenticationContext
}

const searchIntervalMs = 30_000
const maxSearchesInRow = 4
const maxArrivals = 100

/**
 * Limits the fetches that search for a key, so that a client with invented keys cannot cause many requests to the
 * issuer.
 */
class KeySearches {
  readonly #monotonicNow: () => number
  readonly #arrivals = new BoundedMap<string, number>(maxArrivals)
  #remaining = maxSearchesInRow
  #refilledAt: number

  constructor(monotonicNow: () => number) {
    this.#monotonicNow = monotonicNow
    this.#refilledAt = monotonicNow()
  }

  /**
   * A token with an unknown key has arrived. Returns the number of the last fetch that had begun when the first token
   * with this key arrived.
   */
  recordArrival({ alg, kid }: JWTHeaderParameters, fetchNumber: number): number {
    const key = JSON.stringify([alg, kid])
    const firstFetchNumber = this.#arrivals.get(key) ?? fetchNumber
    this.#arrivals.set(key, firstFetchNumber)
    return firstFetchNumber
  }

  /**
   * Takes one of the allowed searches: up to four in a row, and one more for each 30 seconds. Undefined if the search
   * is allowed, or else when the next one is.
   */
  take(): number | undefined {
    const refills = Math.floor((this.#monotonicNow() - this.#refilledAt) / searchIntervalMs)
    this.#refilledAt += refills * searchIntervalMs
    this.#remaining = Math.min(maxSearchesInRow, this.#remaining + refills)
    if (this.#remaining === 0) return this.#refilledAt + searchIntervalMs
    if (this.#remaining === maxSearchesInRow) this.#refilledAt = this.#monotonicNow()
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
