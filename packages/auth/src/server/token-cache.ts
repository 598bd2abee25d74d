/** Verdicts on tokens, by their digests: a token is verified once, and a dump of the memory shows none that could be used. */
export interface TokenCache<T> {
  /** Returns the kept verdict, unless its time is over. */
  get(digest: string, now: number): T | undefined
  set(digest: string, value: T, until: number): void
}

interface CachedEntry<T> {
  readonly value: T
  readonly until: number
}

/**
 * A cache of at most `size` entries. It has two halves: what is read moves to the young one, and when that is full the old one is
 * dropped; so what is in use stays, and a read costs one look at a map.
 */
export function createTokenCache<T>(size: number): TokenCache<T> {
  let current = new Map<string, CachedEntry<T>>()
  let previous = new Map<string, CachedEntry<T>>()
  const add = (digest: string, cached: CachedEntry<T>): void => {
    if (current.size >= size / 2) {
      previous = current
      current = new Map()
    }
    current.set(digest, cached)
  }
  return {
    get(digest, now) {
      const recent = current.get(digest)
      const cached = recent ?? previous.get(digest)
      if (cached === undefined) return undefined
      if (cached.until <= now) {
        current.delete(digest)
        previous.delete(digest)
        return undefined
      }
      if (recent === undefined) add(digest, cached)
      return cached.value
    },
    set: (digest, value, until) => add(digest, { value, until }),
  }
}
