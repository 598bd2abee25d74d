import * as z from 'zod/mini'
import { jsonValue } from './json.zod.ts'
import { resultMetaObject } from './meta.zod.ts'
import type { EmptyResult, Result, ResultType } from './result.ts'

/** Validates a {@link ResultType}: any string, because extensions add to them. */
export const resultType: z.ZodMiniType<ResultType> = z.string()

/** The fields that every result has. */
export const resultShape = { _meta: z.optional(resultMetaObject), resultType }

/** Validates a {@link Result} of any method. */
export const result: z.ZodMiniType<Result> = z.catchall(z.object(resultShape), jsonValue)

/** Validates an {@link EmptyResult}. */
export const emptyResult: z.ZodMiniType<EmptyResult> = result
