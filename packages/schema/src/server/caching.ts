import type { ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { durationMs, shape, literal } from '../basic/shape.ts'

/** The scope of a cached result: public, or of one authorization context (server/utilities/caching). */
export type CacheScope = 'private' | 'public'

/** A result with the time and the scope for which it may be cached (server/utilities/caching). */
export type CacheableResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** The time after arrival in milliseconds during which the result is fresh. 0 is stale at once. */
  readonly ttlMs: number
  readonly cacheScope: CacheScope
}

/** The members of a {@link CacheableResult}. */
export const cacheableMembers = { ...resultMembers, ttlMs: durationMs, cacheScope: literal('private', 'public') }

/** The shape of {@link CacheableResult}. */
export const cacheableResult = shape<CacheableResult>(cacheableMembers)
