import * as z from 'zod/mini'
import { resultShape } from '../basic/result.zod.ts'
import type { CacheableResult, CacheScope } from './caching.ts'

const cacheScope: z.ZodMiniType<CacheScope> = z.enum(['private', 'public'])

/** The fields of a {@link CacheableResult}. */
export const cacheableResultShape = { ...resultShape, ttlMs: z.int().check(z.minimum(0)), cacheScope }

/** Validates a {@link CacheableResult}. */
export const cacheableResult: z.ZodMiniType<CacheableResult> = z.looseObject(cacheableResultShape)
