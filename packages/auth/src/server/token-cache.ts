/**
 * Verdicts on tokens, by their digests: a token is verified once, and a dump of the memory shows none that could be
 * used.
 */
export interface TokenCache<T> {
  /** Returns the kept verdict, unless its time is over. */
  get(digest: string, now: number): T | undefined
  set(digest: string, value: T, expiresAt: number): void
}

interface CachedEntry<T> {
  readonly value: T
  readonly until: number
}

/**
 * A cache of at most `size` entries. It has two halves: what is read moves to the young one, and when that is full the
 * old one is dropped; so what is in use stays, and a read costs one look at a map.
 */
export function createTokenCache<T>(size: number): TokenCache<T> {
  let currentEntries = new Map<string, CachedEntry<T>>()
  let previousEntries = new Map<string, CachedEntry<T>>()
  const addEntry = (digest: string, entry: CachedEntry<T>): void => {
    if (currentEntries.size >= size / 2) {
      previousEntries = currentEntries
      currentEntries = new Map()
    }
    currentEntries.set(digest, entry)
  }
  return {
    get(digest, now) {
      const recentEntry = currentEntries.get(digest)
      const entry = recentEntry ?? previousEntries.get(digest)
      if (entry === undefined) return undefined
      if (entry.until <= now) {
        currentEntries.delete(digest)
        previousEntries.delete(digest)
        return undefined
      }
      if (recentEntry === undefined) addEntry(digest, entry)
      return entry.value
    },
    set: (digest, value, expiresAt) => addEntry(digest, { value, until: expiresAt }),
  }
}
