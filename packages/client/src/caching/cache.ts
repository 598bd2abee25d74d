import { type Clock, platformRuntime } from '@x/core'
import { type ConnectionView, type JsonObject, findMethodRow, prepareResult, type RpcNotification } from '@x/schema'
import { type CachePartition, createCacheStore } from './cache-store.ts'
import type { ClientMethod, CompleteResults } from '../request/complete-results.ts'
import type { ReadOptions } from '../request/call-options.ts'
import { type OpenedPartition, openPartition, emptyPartition } from './cache-partition.ts'
import type { ClientRequest, SendOnce } from '../request/request.ts'
import { type InputRequired, isInputRequired } from '../request/input-required.ts'
import { stalePredicateByNotification } from '../subscriptions/changes.ts'

/** The cache of a client, with counts of its use. */
export interface ClientCache {
  /** Results that came from the cache. */
  readonly hits: number
  /** Cacheable results that were requested from the server. */
  readonly misses: number
  /**
   * Removes the results that a change notification makes stale (server/utilities/caching, interaction with
   * notifications). The client's own subscriptions do this by themselves.
   */
  handleNotification(notification: RpcNotification): void
  /** Removes every result, or every result of one method. */
  clear(method?: string): void
}

/** A cache in front of requests: a fresh result is not requested again. */
export interface CachedSender {
  readonly send: SendOnce
  readonly cache: ClientCache
  readonly getPartition: () => OpenedPartition
}

/** Puts a cache in front of requests. `false` leaves them as they are (server/utilities/caching). */
export function withCache(
  send: SendOnce,
  partition: false | CachePartition | undefined,
  clock: Clock = platformRuntime,
): CachedSender {
  const cache = {
    hits: 0,
    misses: 0,
    handleNotification(notification: RpcNotification): void {
      const isStale = stalePredicateByNotification(notification)
      if (isStale) getPartition().removeStaleEntries(isStale)
    },
    clear(method?: string): void {
      getPartition().removeStaleEntries((key) => method === undefined || key.method === method)
    },
  }
  let openedPartition: OpenedPartition | undefined
  // Opened with its first use, because most clients of a host call a few tools and nothing else.
  const getPartition = (): OpenedPartition =>
    (openedPartition ??=
      partition === false ? emptyPartition : openPartition(partition ?? createCacheStore().partition('')))
  const readThroughCache = async <M extends ClientMethod>(
    call: ClientRequest<M>,
    options: ReadOptions,
  ): Promise<CompleteResults[M] | InputRequired> => {
    options.signal?.throwIfAborted()
    const cachedEntry = options.refresh ? undefined : getPartition().find(call)
    if (cachedEntry && clock.monotonicNow() < cachedEntry.freshUntil) {
      cache.hits += 1
      // Stored under a key that starts with this method, after its check had accepted it.
      return cachedEntry.result as unknown as CompleteResults[M]
    }
    cache.misses += 1
    const pendingRead = getPartition().beginRead(call)
    try {
      const result = await send(call, options)
      if (isInputRequired(result)) return result
      // Freshness counts from the arrival of the response.
      const freshUntil = clock.monotonicNow() + ('ttlMs' in result ? result.ttlMs : 0)
      if (!(freshUntil > clock.monotonicNow())) {
        pendingRead.discard(cachedEntry !== undefined)
        return result
      }
      // A copy, because a server in this process may hold the object. Frozen, because all callers share it.
      const sharedResult = prepareResult(structuredClone(result))
      pendingRead.store({ result: sharedResult as unknown as JsonObject, freshUntil })
      return sharedResult
    } finally {
      pendingRead.discard()
    }
  }
  const sendThroughCache: SendOnce = (call, options) =>
    isCacheable(call.method, call.params) ? readThroughCache(call, options) : send(call, options)
  return { send: partition === false ? send : sendThroughCache, cache, getPartition }
}

/**
 * Returns the partition that caches the results of a client, `undefined` for a cache of this client alone. A result of
 * one principal must not reach another, so that a connection of several principals needs a named partition.
 */
export function cachePartitionOf(
  cache: false | CachePartition | undefined,
  { canMixPrincipals = false }: ConnectionView,
): false | CachePartition | undefined {
  return cache ?? (canMixPrincipals ? false : undefined)
}

// The input that a retry carries is not part of the key, so its result must not be stored (server/utilities/caching,
// cache key).
function isCacheable(method: string, params: JsonObject): boolean {
  return findMethodRow(method)?.isCacheable === true && !('inputResponses' in params) && !('requestState' in params)
}
