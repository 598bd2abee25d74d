import * as z from 'zod'
import { jsonValue } from './json.zod.ts'
import { resultMetaObject } from './meta.zod.ts'
import type { EmptyResult, Result, ResultType } from './result.ts'

/** Validates a {@link ResultType}: any string, because extensions add to them. */
export const resultType: z.ZodType<ResultType> = z.string()

/** The fields that every result has. */
export const resultShape = { _meta: resultMetaObject.optional(), resultType }

/** Validates a {@link Result} of any method. */
export const result: z.ZodType<Result> = z.object(resultShape).catchall(jsonValue)

/** Validates an {@link EmptyResult}. */
export const emptyResult: z.ZodType<EmptyResult> = result
