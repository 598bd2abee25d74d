import type { CacheEntry, CacheStore, CacheStoreOptions } from '../request/options.ts'

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
