import { cacheableMembers } from './caching.ts'
import { type RequestMetaObject, requestMetaObject, type ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { optional, type Shape, shape, string } from '../basic/shape.ts'

/** An opaque position in a list. The client returns it unchanged to get the next page (server/utilities/pagination). */
export type Cursor = string

/** The shape of {@link Cursor}. */
export const cursor: Shape<Cursor> = string

/** The params of a paginated request (server/utilities/pagination). */
export type PaginatedRequestParams = {
  readonly _meta: RequestMetaObject
  /** The `nextCursor` of the previous page. Absent in the request for the first page. */
  readonly cursor?: Cursor | undefined
}

/** The shape of {@link PaginatedRequestParams}. */
export const paginatedRequestParams = shape<PaginatedRequestParams>({
  _meta: requestMetaObject,
  cursor: optional(cursor),
})

/** One page of a list (server/utilities/pagination). */
export type PaginatedResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** The cursor of the next page. Absent on the last page. */
  readonly nextCursor?: Cursor | undefined
}

/** The shape of {@link PaginatedResult}. */
export const paginatedResult = shape<PaginatedResult>({ ...resultMembers, nextCursor: optional(cursor) })

/** The shapes of the members that every page of a list has. Every page can be cached. */
export const pageMembers = { ...cacheableMembers, nextCursor: optional(cursor) }
