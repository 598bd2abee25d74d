import { cacheableMembers } from './caching.ts'
import { type RequestMetaObject, requestMetaObject, type ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { optional, type Shape, shape, string } from '../basic/shape.ts'

/** An opaque position in a list. The client returns it unchanged to get the next page (server/utilities/pagination). */
export type Cursor = string

export const cursor: Shape<Cursor> = string

/** Params of a paginated request (server/utilities/pagination). */
export type PaginatedRequestParams = {
  readonly _meta: RequestMetaObject
  /** `nextCursor` of the previous page. Absent in the request for the first. */
  readonly cursor?: Cursor | undefined
}

export const paginatedRequestParams = shape<PaginatedRequestParams>({
  _meta: requestMetaObject,
  cursor: optional(cursor),
})

/** One page of a list (server/utilities/pagination). */
export type PaginatedResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** Where the next page begins. Absent on the last one. */
  readonly nextCursor?: Cursor | undefined
}

export const paginatedResult = shape<PaginatedResult>({ ...resultMembers, nextCursor: optional(cursor) })

/** Members of every page of a list, which can always be cached. */
export const pageMembers = { ...cacheableMembers, nextCursor: optional(cursor) }
