import type { Clock } from '@x/core'
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

/** A client's cache, with its counts of hits and misses. */
export interface ClientCache {
  /** Results that came from the cache. */
  readonly hits: number
  /** Cacheable results that had to be requested from the server. */
  readonly misses: number
  /**
   * Drops what a change notification makes stale (server/utilities/caching, interaction with notifications). A
   * subscription of this client does so by itself; call this for notifications that reach you another way.
   */
  handleNotification(notification: RpcNotification): void
  /** Removes every result, or those of one method. */
  clear(method?: string): void
}

interface CacheContext {
  readonly clock: Clock
  readonly events: Pick<ClientEventSource, 'emit'>
  readonly connection: Pick<ConnectionView, 'state'>
}

/**
 * Puts a cache in front of a function that sends requests (server/utilities/caching). With `false` as `partition`,
 * nothing is cached.
 */
export function withCache(
  send: SendOnce,
  partition: false | CachePartition | undefined,
  { clock, events, connection }: CacheContext,
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
    events.emit?.({ type: 'cache', method, isHit: outcome === 'hits' })
  }
  let openedPartition: OpenedPartition | undefined
  // Created on first use: most clients only call tools, and read nothing that can be cached.
  const getPartition = (): OpenedPartition =>
    (openedPartition ??=
      partition === false ? emptyPartition : openPartition(partition ?? createCacheStore().partition('')))
  const followState = createStateWatch(connection, () => cache.clear())
  const readThroughCache = async <M extends ClientMethod>(
    call: ClientRequest<M>,
    options: ReadOptions,
  ): Promise<CompleteResults[M] | InputRequired> => {
    options.signal?.throwIfAborted()
    const state = followState()
    const cachedEntry = options.refresh ? undefined : getPartition().find(call)
    if (cachedEntry && clock.monotonicNow() < cachedEntry.freshUntil) {
      countLookup(call.method, 'hits')
      // The cast is safe: the key contains the method, and only a result that passed the check of that method is
      // stored.
      return cachedEntry.result as unknown as CompleteResults[M]
    }
    countLookup(call.method, 'misses')
    const pendingRead = getPartition().beginRead(call)
    try {
      const result = await send(call, options)
      if (isInputRequired(result)) return result
      // Freshness counts from the arrival of the response.
      const freshUntil = clock.monotonicNow() + ('ttlMs' in result ? result.ttlMs : 0)
      const isOfEarlierUser = connection.state !== state && hasConnected(state)
      if (isOfEarlierUser || !(freshUntil > clock.monotonicNow())) {
        pendingRead.discard(cachedEntry !== undefined)
        return result
      }
      // Copied, because a server in this process may still change its object; frozen, because all callers share the
      // copy.
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
 * The returned function gets the state, and calls `forget` if it has changed: after a login, a logout or an outage,
 * another user may be logged in.
 */
function createStateWatch(
  connection: Pick<ConnectionView, 'state'>,
  forget: () => void,
): () => ConnectionView['state'] {
  let knownState = connection.state
  return () => {
    const { state } = connection
    if (state !== knownState && hasConnected(knownState)) forget()
    return (knownState = state)
  }
}

function hasConnected(state: ConnectionView['state']): boolean {
  return state !== undefined && state.status !== 'connecting'
}

/**
 * The partition for a client's results, or `undefined` for a private cache. One principal must never get a result of
 * another, so a connection that sends for several of them caches nothing unless it names a partition.
 */
export function cachePartitionOf(
  cache: false | CachePartition | undefined,
  { canMixPrincipals = false }: ConnectionView,
): false | CachePartition | undefined {
  return cache ?? (canMixPrincipals ? false : undefined)
}

// A retry carries answers or a state, which are not part of the key; its result must not be stored
// (server/utilities/caching, cache key).
function isCacheable(method: string, params: JsonObject): boolean {
  return findMethodRow(method)?.isCacheable === true && !('inputResponses' in params) && !('requestState' in params)
}
