import type { JsonObject } from '@x/schema'

/** A result and the time until which it is fresh. */
export interface CacheEntry {
  readonly result: JsonObject
  /** On the client's clock, in milliseconds. */
  readonly freshUntil: number
}

/**
 * Stores results in this process. A key names the principal of a result, so that one store can serve several
 * principals.
 */
export interface CacheStore {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  delete(key: string): void
  keys(): Iterable<string>
}

/** The bounds of a store. */
export interface CacheStoreOptions {
  /** Default 500. */
  readonly maxEntries?: number | undefined
  /** The length of all results as JSON, in characters. Default 16 million. */
  readonly maxLength?: number | undefined
}

/** Options of the cache. */
export interface CacheOptions extends CacheStoreOptions {
  /**
   * A store that several clients share. `partition` names the server and the principal of this client. Results never
   * cross from one partition to another, public ones included.
   */
  readonly shared?: { readonly store: CacheStore; readonly partition: string } | undefined
}

/** Creates a store in memory that evicts the least recently used results. */
export function createCacheStore({ maxEntries = 500, maxLength = 16_000_000 }: CacheStoreOptions = {}): CacheStore {
  const entries = new Map<string, { readonly entry: CacheEntry; readonly length: number }>()
  let total = 0
  const remove = (key: string): void => {
    total -= entries.get(key)?.length ?? 0
    entries.delete(key)
  }
  return {
    get: (key) => {
      const found = entries.get(key)
      if (!found) return undefined
      // A Map keeps the order of insertion: a result that is used moves to the end.
      entries.delete(key)
      entries.set(key, found)
      return found.entry
    },
    set: (key, entry) => {
      remove(key)
      const length = JSON.stringify(entry.result).length + key.length
      if (length > maxLength) return
      entries.set(key, { entry, length })
      total += length
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && total <= maxLength) return
        remove(oldest)
      }
    },
    delete: remove,
    keys: () => [...entries.keys()],
  }
}
