import type { ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { durationMs, type Shape, shape, literal } from '../basic/shape.ts'

/**
 * Which callers may get a cached result: `public` means any, `private` those of the same authorization context
 * (server/utilities/caching).
 */
export type CacheScope = 'private' | 'public'

/** Says for how long and for which callers a result may be cached (server/utilities/caching). */
export type CacheableResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** Milliseconds after its arrival during which the result is fresh. With 0 it is stale at once. */
  readonly ttlMs: number
  readonly cacheScope: CacheScope
}

export const cacheableMembers = { ...resultMembers, ttlMs: durationMs, cacheScope: literal('private', 'public') }

export const cacheableResult: Shape<CacheableResult> = shape<CacheableResult>(cacheableMembers)
