import type { ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { durationMs, type Shape, shape, literal } from '../basic/shape.ts'

/**
 * The callers to which a cached result may be given. `public` means any caller. `private` means callers of the same
 * authorization context (server/utilities/caching).
 */
export type CacheScope = 'private' | 'public'

/** A result that says for how long and for which callers it may be cached (server/utilities/caching). */
export type CacheableResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** Milliseconds after its arrival during which the result is fresh. With 0 it is stale at once. */
  readonly ttlMs: number
  readonly cacheScope: CacheScope
}

/** The shapes of the members of a {@link CacheableResult}. */
export const cacheableMembers = { ...resultMembers, ttlMs: durationMs, cacheScope: literal('private', 'public') }

/** The shape of {@link CacheableResult}. */
export const cacheableResult: Shape<CacheableResult> = shape<CacheableResult>(cacheableMembers)
