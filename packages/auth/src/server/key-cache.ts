import { captureAsyncContext } from '@x/core'
import { createLocalJWKSet } from 'jose'
import type { AuthenticationContext } from '@x/exchange'
import type { FetchFunction } from '../bounded-fetch.ts'
import { parseSecureUrl } from '../oauth-urls.ts'
import { discoverIssuerMetadata, fetchJson } from './issuer-requests.ts'
import { TokenError } from './token-error.ts'

/** Where an issuer's keys are, and how they are fetched. */
export interface KeySource {
  readonly issuer: string
  /** Undefined if the issuer's metadata has the URL of the keys. */
  readonly jwksUri: string | undefined
  readonly fetch: FetchFunction
  /** Milliseconds since an arbitrary start: a clock that is set back must not end all fetches. */
  readonly monotonicNow: () => number
  /**
   * Called after a failed fetch, even if older keys can still be used. `context` belongs to the request that began the
   * fetch.
   */
  readonly onError: (error: unknown, context: AuthenticationContext | undefined) => void
}

export interface CachedKeys {
  readonly keySet: ReturnType<typeof createLocalJWKSet>
  readonly fetchedAt: number
  /** Later fetches have higher numbers. */
  readonly fetchNumber: number
}

const refreshAfterMs = 600_000
const maxKeyAgeMs = 86_400_000
const minRetryMs = 1000
const maxRetryMs = 30_000

/**
 * Caches an issuer's keys. While the issuer is unreachable, the last keys are used for up to a day, and fetching is
 * tried again after 1, 2, 4 seconds and so on, up to 30. Rejects with a {@link TokenError} if no usable keys are
 * available.
 */
export class KeyCache {
  readonly #source: KeySource
  #cachedKeys: CachedKeys | undefined
  #fetchCount = 0
  #failure: { readonly retryMs: number; readonly retryAt: number } | undefined
  #pendingFetch: Promise<void> | undefined
  // Many requests share one fetch, so it must not run in the async context of one of them.
  readonly #runInOrigin = captureAsyncContext()

  constructor(source: KeySource) {
    this.#source = source
  }

  /** Undefined if no fetch is running. */
  get pendingFetch(): Promise<void> | undefined {
    return this.#pendingFetch
  }

  /** Number of the last fetch that has begun. */
  get lastFetchNumber(): number {
    return this.#fetchCount
  }

  /** Fetches the keys if none are cached, or those are older than 10 minutes. */
  async load(context?: AuthenticationContext): Promise<CachedKeys> {
    if (this.#ageMs >= refreshAfterMs) await this.#tryFetch(context)
    if (this.#cachedKeys === undefined || this.#ageMs >= maxKeyAgeMs) throw this.createUnavailableError()
    return this.#cachedKeys
  }

  /** Fetches the keys, or waits for the fetch that is running. */
  async refresh(context?: AuthenticationContext): Promise<CachedKeys> {
    await this.#tryFetch(context)
    if (this.#cachedKeys === undefined || this.#failure !== undefined) throw this.createUnavailableError()
    return this.#cachedKeys
  }

  /** For keys that cannot be used before `retryAt`. Default: the time of the next fetch. */
  createUnavailableError(retryAt = this.#failure?.retryAt ?? this.#source.monotonicNow() + minRetryMs): TokenError {
    const { issuer, monotonicNow } = this.#source
    const retryAfterMs = Math.ceil(Math.max(0, retryAt - monotonicNow()))
    const message = `The keys of "${issuer}" cannot be used at present`
    return new TokenError('issuer_unavailable', message, { retryAfterMs, issuer })
  }

  get #ageMs(): number {
    const { monotonicNow } = this.#source
    return this.#cachedKeys === undefined ? Number.POSITIVE_INFINITY : monotonicNow() - this.#cachedKeys.fetchedAt
  }

  /** Does nothing if the last fetch failed and the next is not due. */
  async #tryFetch(context: AuthenticationContext | undefined): Promise<void> {
    if (this.#pendingFetch === undefined) {
      if (this.#failure !== undefined && this.#source.monotonicNow() < this.#failure.retryAt) return
      this.#fetchCount += 1
      this.#pendingFetch = this.#runInOrigin(() => this.#fetch(this.#fetchCount, context))
    }
    await this.#pendingFetch
  }

  async #fetch(fetchNumber: number, context: AuthenticationContext | undefined): Promise<void> {
    const { issuer, monotonicNow, onError } = this.#source
    try {
      this.#cachedKeys = { keySet: await fetchKeys(this.#source), fetchedAt: monotonicNow(), fetchNumber }
      this.#failure = undefined
    } catch (cause) {
      const retryMs = this.#failure === undefined ? minRetryMs : Math.min(maxRetryMs, this.#failure.retryMs * 2)
      this.#failure = { retryMs, retryAt: monotonicNow() + retryMs }
      const message = `No keys of "${issuer}" could be fetched`
      onError(new TokenError('issuer_unavailable', message, { cause, retryAfterMs: retryMs, issuer }), context)
    } finally {
      this.#pendingFetch = undefined
    }
  }
}

async function fetchKeys({ issuer, jwksUri, fetch }: KeySource): Promise<CachedKeys['keySet']> {
  const url = jwksUri ?? (await discoverIssuerMetadata(issuer, fetch))['jwks_uri']
  if (typeof url !== 'string') throw new Error(`The metadata of "${issuer}" has no jwks_uri: give jwksUri in issuers`)
  const keySetJson = await fetchJson(parseSecureUrl('jwks_uri', url).href, fetch)
  if (keySetJson === undefined) throw new Error(`There is no key set at ${url}`)
  const { keys } = keySetJson
  // No issuer has no key: it is being set up, or has lost them, and the last ones are still good.
  if (Array.isArray(keys) && keys.length === 0) throw new Error(`The key set at ${url} is empty`)
  // The library checks the key set as a whole here, and each key at its first use.
  return createLocalJWKSet(keySetJson as unknown as Parameters<typeof createLocalJWKSet>[0])
}
