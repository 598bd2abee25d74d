import * as z from 'zod'
import { resultShape } from '../basic/result.zod.ts'
import type { CacheableResult, CacheScope } from './caching.ts'

const cacheScope: z.ZodType<CacheScope> = z.enum(['private', 'public'])

/** The fields of a {@link CacheableResult}. */
export const cacheableResultShape = { ...resultShape, ttlMs: z.int().min(0), cacheScope }

/** Validates a {@link CacheableResult}. */
export const cacheableResult: z.ZodType<CacheableResult> = z.looseObject(cacheableResultShape)
