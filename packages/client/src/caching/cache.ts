import { type Clock, isJsonObject, type JsonObject, methodRow, platformClock, type RpcNotification } from '@x/schema'
import { type CacheOptions, createCacheStore } from './cache-store.ts'
import type { ClientMethod, CompleteResults } from '../request/complete-results.ts'
import { changedBy } from '../request/notifications.ts'
import type { ReadOptions } from '../call-options.ts'
import type { ClientRequest, SendOnce } from '../request/request.ts'
import { type Asked, isAsked } from '../rounds/asked.ts'

/** What a client has kept of earlier results, and how often it helped. */
export interface ClientCache {
  /** How many results came from the cache. */
  readonly hits: number
  /** How many results that may be cached were asked of the server. */
  readonly misses: number
  /** Forgets what a notification of a change makes stale (server/utilities/caching, interaction with notifications). */
  changed(notification: RpcNotification): void
  /** Forgets every result, or every result of a method. */
  clear(method?: string): void
}

/** A cache before requests: what is fresh is not asked again. */
export interface Caching {
  readonly send: SendOnce
  readonly cache: ClientCache
}

/** Puts a cache before requests; `false` leaves them as they are (server/utilities/caching). */
export function withCache(send: SendOnce, options: false | CacheOptions, clock: Clock = platformClock): Caching {
  if (options === false) return { send, cache: { hits: 0, misses: 0, changed: () => {}, clear: () => {} } }
  const { store, partition } = options.shared ?? { store: createCacheStore(options), partition: '' }
  const counts = { hits: 0, misses: 0 }
  // Counts what made entries stale: a result that was asked for before that must not be kept after it.
  let generation = 0
  const forget = (isStale: (method: string, params: JsonObject) => boolean): void => {
    generation += 1
    for (const key of store.keys()) {
      const [owner, method, params] = partsOf(key)
      if (owner === partition && isStale(method, params)) store.delete(key)
    }
  }
  const fromCache = async <M extends ClientMethod>(
    call: ClientRequest<M>,
    how: ReadOptions,
  ): Promise<CompleteResults[M] | Asked> => {
    how.signal?.throwIfAborted()
    const key = JSON.stringify([partition, call.method, call.params])
    const found = how.refresh ? undefined : store.get(key)
    if (found && clock.now() < found.freshUntil) {
      counts.hits += 1
      // Kept under a key that starts with this method, after its validator had accepted it.
      return found.result as unknown as CompleteResults[M]
    }
    counts.misses += 1
    const before = generation
    const result = await send(call, how)
    if (isAsked(result)) return result
    // Freshness counts from the arrival of the response.
    const freshUntil = clock.now() + ('ttlMs' in result ? result.ttlMs : 0)
    if (before !== generation) return result
    if (freshUntil > clock.now()) store.set(key, { result: result as unknown as JsonObject, freshUntil })
    else if (found) store.delete(key)
    return result
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
      for (const { method, uri } of changedBy(notification)) {
        forget((kept, params) => kept === method && (uri === undefined || params.uri === uri))
      }
    },
    clear: (method) => forget((kept) => method === undefined || kept === method),
  }
  return { send: cached, cache }
}

// Input that a retry carries is no part of the key, so its result must not be kept (server/utilities/caching, cache key).
function isCacheable(method: string, params: JsonObject): boolean {
  return methodRow(method)?.cached === true && !('inputResponses' in params) && !('requestState' in params)
}

function partsOf(key: string): [string, string, JsonObject] {
  const parts: unknown = JSON.parse(key)
  const [owner, method, params] = Array.isArray(parts) ? parts : []
  return [String(owner), String(method), isJsonObject(params) ? params : {}]
}
