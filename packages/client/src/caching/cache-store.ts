import type { JsonObject } from '@x/schema'

/** A result and the time until which it is fresh. */
export interface CacheEntry {
  readonly result: JsonObject
  /** On the client's clock, in milliseconds. */
  readonly freshUntil: number
}

/** The results of a {@link CacheStore}, by keys that begin with the name of their partition. */
export interface CacheEntries {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  delete(key: string): void
  keys(): Iterable<string>
}

/** A store in the memory of this process, which several clients can share. */
export interface CacheStore {
  /**
   * Returns the partition of this name, for the option `cache` of a client. The name must identify the server and the
   * principal of the client, because every client with this partition reads its results.
   */
  partition(name: string): CachePartition
}

/** A part of a {@link CacheStore}. Results never cross from one partition to another, public results included. */
export interface CachePartition extends CacheStore {
  readonly name: string
  readonly entries: CacheEntries
}

/** The bounds of a store. */
export interface CacheStoreOptions {
  /** The number of results. Default 500. */
  readonly maxEntries?: number | undefined
  /** The length of all results as JSON, in characters. Default 16 million. */
  readonly maxLength?: number | undefined
}

const defaults = { maxEntries: 500, maxLength: 16_000_000 } satisfies CacheStoreOptions

/**
 * Creates a store in memory that evicts the least recently used results.
 *
 * @example
 * const store = createCacheStore()
 * const client = createClient(connection, { ...host, cache: store.partition(`${url} ${userId}`) })
 */
export function createCacheStore(options: CacheStoreOptions = {}): CacheStore {
  const entries = createCacheEntries(options)
  return { partition: (name) => createPartition(entries, name) }
}

function createPartition(entries: CacheEntries, name: string): CachePartition {
  return { name, entries, partition: (innerName) => createPartition(entries, JSON.stringify([name, innerName])) }
}

function createCacheEntries(options: CacheStoreOptions): CacheEntries {
  const { maxEntries = defaults.maxEntries, maxLength = defaults.maxLength } = options
  const entries = new Map<string, { readonly entry: CacheEntry; readonly length: number }>()
  let totalLength = 0
  const remove = (key: string): void => {
    totalLength -= entries.get(key)?.length ?? 0
    entries.delete(key)
  }
  return {
    get: (key) => {
      const storedEntry = entries.get(key)
      if (!storedEntry) return undefined
      // A Map keeps the order of insertion: a result that is used moves to the end.
      entries.delete(key)
      entries.set(key, storedEntry)
      return storedEntry.entry
    },
    set: (key, entry) => {
      remove(key)
      const length = JSON.stringify(entry.result).length + key.length
      if (length > maxLength) return
      entries.set(key, { entry, length })
      totalLength += length
      for (const oldestKey of entries.keys()) {
        if (entries.size <= maxEntries && totalLength <= maxLength) return
        remove(oldestKey)
      }
    },
    delete: remove,
    keys: () => [...entries.keys()],
  }
}
