import type { ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'

/** Who may share a cached result: anybody, or only the same authorization context (server/utilities/caching). */
export type CacheScope = 'private' | 'public'

/** A result that says for how long and for whom it may be kept (server/utilities/caching). */
export type CacheableResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** Milliseconds after its arrival during which the result counts as fresh; 0 is stale at once. */
  readonly ttlMs: number
  readonly cacheScope: CacheScope
}
