import { type Clock, platformRuntime } from '@x/core'
import type { ConnectionView } from '@x/exchange'
import { type JsonObject, findMethodRow, prepareResult, type RpcNotification } from '@x/schema'
import { createCacheStore } from './cache-store.ts'
import type { CachePartition } from '../request/options.ts'
import type { ClientMethod, CompleteResults } from '../request/complete-results.ts'
import type { ReadOptions } from '../request/call-options.ts'
import type { ClientEventSource } from '../request/client-event.ts'
import { type OpenedPartition, openPartition, emptyPartition } from './cache-partition.ts'
import type { ClientRequest, SendOnce } from '../request/request.ts'
import { type InputRequired, isInputRequired } from '../request/input-required.ts'
import { stalePredicateByNotification } from './changes.ts'

/** The cache of a client, with counts of hits and misses. */
export interface ClientCache {
  /** The number of results that came from the cache. */
  readonly hits: number
  /** The number of cacheable results that the client requested from the server. */
  readonly misses: number
  /**
   * Removes the results that a change notification makes stale (server/utilities/caching, interaction with
   * notifications). Call it for notifications that did not come through a subscription of this client.
   */
  handleNotification(notification: RpcNotification): void
  /** Removes every result, or every result of one method. */
  clear(method?: string): void
}

/**
 * Adds a cache to a function that sends requests (server/utilities/caching). If `partition` is `false`, nothing is
 * cached.
 */
export function withCache(
  send: SendOnce,
  partition: false | CachePartition | undefined,
  {
    clock = platformRuntime,
    events,
  }: { readonly clock?: Clock | undefined; readonly events?: ClientEventSource | undefined } = {},
): { readonly send: SendOnce; readonly cache: ClientCache; readonly getPartition: () => OpenedPartition } {
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
  const countLookup = (method: string, outcome: 'hits' | 'misses'): void => {
    cache[outcome] += 1
    events?.emit?.({ type: 'cache', method, isHit: outcome === 'hits' })
  }
  let openedPartition: OpenedPartition | undefined
  // The partition is created on first use, because most clients only call tools and read nothing that can be cached.
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
      countLookup(call.method, 'hits')
      // The cast is safe. The key contains the method, and a result is stored only after the check of that method has
      // accepted it.
      return cachedEntry.result as unknown as CompleteResults[M]
    }
    countLookup(call.method, 'misses')
    const pendingRead = getPartition().beginRead(call)
    try {
      const result = await send(call, options)
      if (isInputRequired(result)) return result
      // The time of freshness begins when the response arrives.
      const freshUntil = clock.monotonicNow() + ('ttlMs' in result ? result.ttlMs : 0)
      if (!(freshUntil > clock.monotonicNow())) {
        pendingRead.discard(cachedEntry !== undefined)
        return result
      }
      // The stored result is a copy, because a server in this process may still use the object. It is frozen, because
      // all callers share it.
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
 * Returns the partition that caches the results of a client, or `undefined` for a private cache of the client. A result
 * for one principal must not reach another principal. So a connection of several principals has no cache by default,
 * and needs a named partition.
 */
export function cachePartitionOf(
  cache: false | CachePartition | undefined,
  { canMixPrincipals = false }: ConnectionView,
): false | CachePartition | undefined {
  return cache ?? (canMixPrincipals ? false : undefined)
}

// A retry contains answers or a state, which are not part of the key. So the result of a retry must not be stored
// (server/utilities/caching, cache key).
function isCacheable(method: string, params: JsonObject): boolean {
  return findMethodRow(method)?.isCacheable === true && !('inputResponses' in params) && !('requestState' in params)
}
