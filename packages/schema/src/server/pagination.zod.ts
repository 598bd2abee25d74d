import * as z from 'zod/mini'
import { requestMetaObject } from '../basic/meta.zod.ts'
import { requestId } from '../basic/json.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { cacheableResultShape } from './caching.zod.ts'
import type { Cursor, PaginatedRequest, PaginatedRequestParams, PaginatedResult } from './pagination.ts'

/** Validates a {@link Cursor}. */
export const cursor: z.ZodMiniType<Cursor> = z.string()

/** Validates a {@link PaginatedRequestParams}. */
export const paginatedRequestParams: z.ZodMiniType<PaginatedRequestParams> = z.looseObject({
  _meta: requestMetaObject,
  cursor: z.optional(cursor),
})

/** Validates a {@link PaginatedRequest} of any method. */
export const paginatedRequest: z.ZodMiniType<PaginatedRequest> = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: requestId,
  method: z.string(),
  params: paginatedRequestParams,
})

/** Validates a {@link PaginatedResult}. */
export const paginatedResult: z.ZodMiniType<PaginatedResult> = z.looseObject({
  ...resultShape,
  nextCursor: z.optional(cursor),
})

/** The fields of a page that can be cached, which every list is. */
export const pageShape = { ...cacheableResultShape, nextCursor: z.optional(cursor) }
