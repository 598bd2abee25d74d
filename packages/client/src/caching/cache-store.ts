import { type OptionTable, resolveOptions } from '@x/core'
import type { CacheEntries, CacheEntry, CachePartition, CacheStore, CacheStoreOptions } from '../request/options.ts'

const storeOptionTable = {
  // limit: `maxEntries` of `createCacheStore` | count | results | the least recently used is dropped
  maxEntries: { default: 500, min: 0 },
  // limit: `maxLength` of `createCacheStore` | characters | results | the least recently used is dropped
  maxLength: { default: 16_000_000, min: 0 },
} satisfies OptionTable<CacheStoreOptions>

/**
 * Keeps results in memory, and evicts the least recently used.
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
  const { maxEntries, maxLength } = resolveOptions(options, storeOptionTable, 'createCacheStore')
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
      // A `Map` iterates in the order of insertion, so a used result goes to the end by being inserted again.
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
