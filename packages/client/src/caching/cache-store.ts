import type { CacheEntry, CacheStore, CacheStoreOptions } from '../request/options.ts'

/** Creates a store in memory that evicts the least recently used results. */
export function createCacheStore({ maxEntries = 500, maxLength = 16_000_000 }: CacheStoreOptions = {}): CacheStore {
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
