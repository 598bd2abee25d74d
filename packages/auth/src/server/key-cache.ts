import { captureAsyncContext } from '@x/core'
import type { AuthenticationContext } from './credentials.ts'
import { createLocalJWKSet } from 'jose'
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
  /** Milliseconds since 1970. */
  readonly now: () => number
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

/** Its functions reject with a {@link TokenError} if no usable keys are available. */
export interface KeyCache {
  /** Fetches the keys if none are cached, or those are older than 10 minutes. */
  load(context?: AuthenticationContext): Promise<CachedKeys>
  /** Fetches the keys, or waits for the fetch that is running. */
  refresh(context?: AuthenticationContext): Promise<CachedKeys>
  /** Undefined if no fetch is running. */
  pendingFetch(): Promise<void> | undefined
  /** Number of the last fetch that has begun. */
  lastFetchNumber(): number
  /** For keys that cannot be used before `retryAt`. Default: the time of the next fetch. */
  createUnavailableError(retryAt?: number): TokenError
}

const refreshAfterMs = 600_000
const maxKeyAgeMs = 86_400_000
const minRetryMs = 1000
const maxRetryMs = 30_000

/**
 * Caches an issuer's keys. While the issuer is unreachable, the last keys are used for up to a day, and fetching is
 * tried again after 1, 2, 4 seconds and so on, up to 30.
 */
export function createKeyCache(source: KeySource): KeyCache {
  let cachedKeys: CachedKeys | undefined
  let fetchCount = 0
  let failure: { readonly retryMs: number; readonly retryAt: number } | undefined
  let pendingFetch: Promise<void> | undefined
  // Many requests share one fetch, so it must not run in the async context of one of them.
  const runInOrigin = captureAsyncContext()

  const runFetch = async (fetchNumber: number, context: AuthenticationContext | undefined): Promise<void> => {
    try {
      cachedKeys = { keySet: await fetchKeys(source), fetchedAt: source.now(), fetchNumber }
      failure = undefined
    } catch (cause) {
      const retryMs = failure === undefined ? minRetryMs : Math.min(maxRetryMs, failure.retryMs * 2)
      failure = { retryMs, retryAt: source.now() + retryMs }
      const message = `No keys of "${source.issuer}" could be fetched`
      source.onError(
        new TokenError('issuer_unavailable', message, { cause, retryAfterMs: retryMs, issuer: source.issuer }),
        context,
      )
    } finally {
      pendingFetch = undefined
    }
  }
  /** Does nothing if the last fetch failed and the next is not due. */
  const tryFetch = async (context: AuthenticationContext | undefined): Promise<void> => {
    if (pendingFetch === undefined) {
      if (failure !== undefined && source.now() < failure.retryAt) return
      fetchCount += 1
      pendingFetch = runInOrigin(() => runFetch(fetchCount, context))
    }
    await pendingFetch
  }
  const ageMs = () => (cachedKeys === undefined ? Number.POSITIVE_INFINITY : source.now() - cachedKeys.fetchedAt)
  const createUnavailableError = (retryAt = failure?.retryAt ?? source.now() + minRetryMs): TokenError =>
    new TokenError('issuer_unavailable', `The keys of "${source.issuer}" cannot be used at present`, {
      retryAfterMs: Math.max(0, retryAt - source.now()),
      issuer: source.issuer,
    })
  return {
    load: async (context) => {
      if (ageMs() >= refreshAfterMs) await tryFetch(context)
      if (cachedKeys === undefined || ageMs() >= maxKeyAgeMs) throw createUnavailableError()
      return cachedKeys
    },
    refresh: async (context) => {
      await tryFetch(context)
      if (cachedKeys === undefined || failure !== undefined) throw createUnavailableError()
      return cachedKeys
    },
    pendingFetch: () => pendingFetch,
    lastFetchNumber: () => fetchCount,
    createUnavailableError,
  }
}

async function fetchKeys({ issuer, jwksUri, fetch }: KeySource): Promise<CachedKeys['keySet']> {
  const url = jwksUri ?? (await discoverIssuerMetadata(issuer, fetch))['jwks_uri']
  if (typeof url !== 'string') throw new Error(`The metadata of "${issuer}" has no jwks_uri: give jwksUri in issuers`)
  const keySetJson = await fetchJson(parseSecureUrl('jwks_uri', url).href, fetch)
  if (keySetJson === undefined) throw new Error(`There is no key set at ${url}`)
  // The library checks the key set as a whole here, and each key at its first use.
  return createLocalJWKSet(keySetJson as unknown as Parameters<typeof createLocalJWKSet>[0])
}
