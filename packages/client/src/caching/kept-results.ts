import { isJsonObject, type JsonObject } from '@x/schema'
import type { CacheEntry, CacheStore } from './cache-store.ts'

/** A request as far as it decides what the result is (server/utilities/caching, cache key). */
export interface CacheKey {
  readonly method: string
  readonly params: JsonObject
}

/** Is shown what a result was the answer of. */
export type KeptVisitor = (key: CacheKey) => void

/** Whether a result is worth nothing any more. */
export type Stale = (key: CacheKey) => boolean

/** A request whose result may be kept. */
export interface UnderWay {
  /** Keeps the result, unless it became stale meanwhile. */
  keep(entry: CacheEntry): void
  /** The result is not kept; nor is an earlier one, when `isReplaced`. */
  end(isReplaced?: boolean): void
}

/** The results of one partition of a store. */
export interface KeptResults {
  find(key: CacheKey): CacheEntry | undefined
  begin(key: CacheKey): UnderWay
  /** Forgets the results that are stale; those that are under way at this moment are not kept. */
  forget(isStale: Stale): void
  /** Shows what is kept by now. */
  each(visit: KeptVisitor): void
  /** Shows what is kept from here on, until the function that it gives is called. */
  onKept(visit: KeptVisitor): () => void
}

/** Opens a partition of a store. */
export function keptResults(store: CacheStore, partition: string): KeptResults {
  const visitors = new Set<KeptVisitor>()
  const underWay = new Map<UnderWay, CacheKey>()
  const textOf = ({ method, params }: CacheKey): string => JSON.stringify([partition, method, params])
  const keys = function* (): Generator<CacheKey & { readonly text: string }> {
    for (const text of store.keys()) {
      const [owner, method, params] = partsOf(text)
      if (owner === partition) yield { text, method, params }
    }
  }
  return {
    find: (key) => store.get(textOf(key)),
    begin: (key) => {
      const one: UnderWay = {
        keep: (entry) => {
          // What became stale while it was asked for is under way no longer.
          if (!underWay.delete(one)) return
          store.set(textOf(key), entry)
          for (const visit of visitors) visit(key)
        },
        end: (isReplaced = false) => {
          if (underWay.delete(one) && isReplaced) store.delete(textOf(key))
        },
      }
      underWay.set(one, key)
      return one
    },
    forget: (isStale) => {
      for (const [one, key] of underWay) if (isStale(key)) underWay.delete(one)
      for (const key of keys()) if (isStale(key)) store.delete(key.text)
    },
    each: (visit) => {
      for (const key of keys()) visit(key)
    },
    onKept: (visit) => {
      visitors.add(visit)
      return () => void visitors.delete(visit)
    },
  }
}

/** Results that are not kept. */
export const nothingKept: KeptResults = {
  find: () => undefined,
  begin: () => ({ keep: () => {}, end: () => {} }),
  forget: () => {},
  each: () => {},
  onKept: () => () => {},
}

function partsOf(text: string): [string, string, JsonObject] {
  const parts: unknown = JSON.parse(text)
  const [owner, method, params] = Array.isArray(parts) ? parts : []
  return [String(owner), String(method), isJsonObject(params) ? params : {}]
}
