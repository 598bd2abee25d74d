import { captureAsyncContext } from '@x/core'
import type { AuthenticationContext } from './credentials.ts'
import { createLocalJWKSet } from 'jose'
import type { FetchFunction } from '../bounded-fetch.ts'
import { parseSecureUrl } from '../oauth-urls.ts'
import { discoverIssuerMetadata, fetchJson } from './issuer-requests.ts'
import { TokenError } from './token-error.ts'

/** Location of an issuer's keys, and the means to fetch them. */
export interface KeySource {
  readonly issuer: string
  /** Read from the issuer's metadata when absent. */
  readonly jwksUri: string | undefined
  readonly fetch: FetchFunction
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called with the context of the request that began a failed fetch, also while older keys are still used. */
  readonly onError: (error: unknown, context: AuthenticationContext | undefined) => void
}

/** The keys of an issuer, as one fetch returned them. */
export interface CachedKeys {
  readonly keySet: ReturnType<typeof createLocalJWKSet>
  readonly fetchedAt: number
  /** The number of the fetch: that of an earlier fetch is smaller. */
  readonly fetchNumber: number
}

/** The keys of one issuer in memory. Its functions reject with a {@link TokenError} when there are none to use. */
export interface KeyCache {
  /** Returns the keys. Fetches them when there are none, or when they are older than 10 minutes. */
  load(context?: AuthenticationContext): Promise<CachedKeys>
  /** Fetches the keys, or joins the fetch that runs. */
  refresh(context?: AuthenticationContext): Promise<CachedKeys>
  /** Returns the fetch that runs, if there is one. */
  pendingFetch(): Promise<void> | undefined
  /** Returns the number of the last fetch that began. */
  lastFetchNumber(): number
  /** Creates the error of keys that are unusable until a time, by default that of the next attempt. */
  createUnavailableError(retryAt?: number): TokenError
}

const refreshAfterMs = 600_000
const maxKeyAgeMs = 86_400_000
const minRetryMs = 1000
const maxRetryMs = 30_000

/**
 * Creates the cache of an issuer's keys. While the issuer is unreachable, the last keys are used for a day, and it is
 * tried again after 1, 2, 4, … 30 seconds.
 */
export function createKeyCache(source: KeySource): KeyCache {
  let cachedKeys: CachedKeys | undefined
  let fetchCount = 0
  let failure: { readonly retryMs: number; readonly retryAt: number } | undefined
  let pendingFetch: Promise<void> | undefined
  // A fetch is shared by many requests, and belongs to none of them.
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
  /** Waits for a fetch, unless the last one failed a moment ago. */
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
  // jose checks the set as a whole here, and each key when it is first used.
  return createLocalJWKSet(keySetJson as unknown as Parameters<typeof createLocalJWKSet>[0])
}
