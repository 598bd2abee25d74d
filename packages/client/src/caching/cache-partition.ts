import { isJsonObject, type JsonObject } from '@x/schema'
import type { CacheEntry, CachePartition } from '../request/options.ts'
import type { ClientRequest } from '../request/request.ts'

/** What determines a result, and therefore its place in the cache (server/utilities/caching, cache key). */
export type CacheKey = Pick<ClientRequest<string>, 'method' | 'params'>

/** Gets the request of each stored result. */
export type CacheVisitor = (key: CacheKey) => void

/** True for the key of a stale result. */
export type StaleKeyPredicate = (key: CacheKey) => boolean

/** A running request whose result may be stored. */
export interface PendingRead {
  /** Stores the result, unless it became stale while the request ran. */
  store(entry: CacheEntry): void
  /** Ends the read without a result. `mustDeleteEntry` also removes an earlier result with the same key. */
  discard(mustDeleteEntry?: boolean): void
}

/** One partition of a store, opened: what it holds, and the running requests whose results will join it. */
export interface OpenedPartition {
  find(key: CacheKey): CacheEntry | undefined
  beginRead(key: CacheKey): PendingRead
  /**
   * Removes stale results. A running request with a stale key is dropped too, because its answer may predate the
   * change.
   */
  removeStaleEntries(isStale: StaleKeyPredicate): void
  /** Visits each result that is stored now. */
  forEach(visit: CacheVisitor): void
  /** Visits each result that is stored from now on, until the returned function is called. */
  onStored(visit: CacheVisitor): () => void
}

export function openPartition({ entries: store, name: partition }: CachePartition): OpenedPartition {
  // Bounded by the subscriptions of the host.
  const visitors = new Set<CacheVisitor>()
  // Bounded by the calls of the client that run.
  const pendingReads = new Map<PendingRead, CacheKey>()
  const storeKeyOf = ({ method, params }: CacheKey): string => JSON.stringify([partition, method, params])
  const listPartitionKeys = function* (): Generator<CacheKey & { readonly storeKey: string }> {
    for (const storeKey of store.keys()) {
      const [keyPartition, method, params] = parseStoreKey(storeKey)
      if (keyPartition === partition) yield { storeKey, method, params }
    }
  }
  return {
    find: (key) => store.get(storeKeyOf(key)),
    beginRead: (key) => {
      const pendingRead: PendingRead = {
        store: (entry) => {
          // `removeStaleEntries` removed the read if its result became stale while the request ran.
          if (!pendingReads.delete(pendingRead)) return
          store.set(storeKeyOf(key), entry)
          for (const visit of visitors) visit(key)
        },
        discard: (mustDeleteEntry = false) => {
          if (pendingReads.delete(pendingRead) && mustDeleteEntry) store.delete(storeKeyOf(key))
        },
      }
      pendingReads.set(pendingRead, key)
      return pendingRead
    },
    removeStaleEntries: (isStale) => {
      for (const [pendingRead, key] of pendingReads) if (isStale(key)) pendingReads.delete(pendingRead)
      for (const key of listPartitionKeys()) if (isStale(key)) store.delete(key.storeKey)
    },
    forEach: (visit) => {
      for (const key of listPartitionKeys()) visit(key)
    },
    onStored: (visit) => {
      visitors.add(visit)
      return () => void visitors.delete(visit)
    },
  }
}

/** For clients without a cache: stores nothing. */
export const emptyPartition: OpenedPartition = {
  find: () => undefined,
  beginRead: () => ({ store: () => {}, discard: () => {} }),
  removeStaleEntries: () => {},
  forEach: () => {},
  onStored: () => () => {},
}

function parseStoreKey(text: string): [string, string, JsonObject] {
  const parsedKey: unknown = JSON.parse(text)
  const [keyPartition, method, params] = Array.isArray(parsedKey) ? parsedKey : []
  return [String(keyPartition), String(method), isJsonObject(params) ? params : {}]
}
