import { type Clock, type JsonObject, methodRow, platformClock, type RpcNotification } from '@x/schema'
import { type CacheOptions, createCacheStore } from './cache-store.ts'
import type { ClientMethod, CompleteResults } from '../request/complete-results.ts'
import type { ReadOptions } from '../call-options.ts'
import { type KeptResults, keptResults, nothingKept } from './kept-results.ts'
import type { ClientRequest, SendOnce } from '../request/request.ts'
import { type Asked, isAsked } from '../rounds/asked.ts'
import { staleByNotification } from '../subscriptions/changes.ts'

/** What a client has kept of earlier results, and how often it helped. */
export interface ClientCache {
  /** How many results came from the cache. */
  readonly hits: number
  /** How many results that may be cached were asked of the server. */
  readonly misses: number
  /**
   * Forgets what a notification of a change makes stale (server/utilities/caching, interaction with notifications). The
   * client's own subscriptions do so by themselves.
   */
  changed(notification: RpcNotification): void
  /** Forgets every result, or every result of a method. */
  clear(method?: string): void
}

/** A cache before requests: what is fresh is not asked again. */
export interface Caching {
  readonly send: SendOnce
  readonly cache: ClientCache
  readonly kept: KeptResults
}

/** Puts a cache before requests; `false` leaves them as they are (server/utilities/caching). */
export function withCache(send: SendOnce, options: false | CacheOptions, clock: Clock = platformClock): Caching {
  const counts = { hits: 0, misses: 0 }
  const kept = options === false ? nothingKept : keptOf(options)
  const fromCache = async <M extends ClientMethod>(
    call: ClientRequest<M>,
    how: ReadOptions,
  ): Promise<CompleteResults[M] | Asked> => {
    how.signal?.throwIfAborted()
    const found = how.refresh ? undefined : kept.find(call)
    if (found && clock.now() < found.freshUntil) {
      counts.hits += 1
      // Kept under a key that starts with this method, after its validator had accepted it.
      return found.result as unknown as CompleteResults[M]
    }
    counts.misses += 1
    const underWay = kept.begin(call)
    try {
      const result = await send(call, how)
      if (isAsked(result)) return result
      // Freshness counts from the arrival of the response.
      const freshUntil = clock.now() + ('ttlMs' in result ? result.ttlMs : 0)
      if (freshUntil > clock.now()) underWay.keep({ result: result as unknown as JsonObject, freshUntil })
      else underWay.end(found !== undefined)
      return result
    } finally {
      underWay.end()
    }
  }
  const cached: SendOnce = (call, how) =>
    isCacheable(call.method, call.params) ? fromCache(call, how) : send(call, how)
  const cache: ClientCache = {
    get hits() {
      return counts.hits
    },
    get misses() {
      return counts.misses
    },
    changed: (notification) => {
      const isStale = staleByNotification(notification)
      if (isStale) kept.forget(isStale)
    },
    clear: (method) => kept.forget((key) => method === undefined || key.method === method),
  }
  return { send: options === false ? send : cached, cache, kept }
}

function keptOf(options: CacheOptions): KeptResults {
  const { store, partition } = options.shared ?? { store: createCacheStore(options), partition: '' }
  return keptResults(store, partition)
}

// Input that a retry carries is no part of the key, so its result must not be kept (server/utilities/caching, cache key).
function isCacheable(method: string, params: JsonObject): boolean {
  return methodRow(method)?.cached === true && !('inputResponses' in params) && !('requestState' in params)
}
