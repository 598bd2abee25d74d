import type { RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'

/** An opaque position after a page: send it back unchanged (server/utilities/pagination). */
export type Cursor = string

/** The params of a paginated request (server/utilities/pagination). */
export type PaginatedRequestParams = {
  readonly _meta: RequestMetaObject
  /** The `nextCursor` of the previous page; absent for the first. */
  readonly cursor?: Cursor | undefined
}

/** A paginated request (server/utilities/pagination). */
export type PaginatedRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: string
  readonly params: PaginatedRequestParams
}

/** One page of a list (server/utilities/pagination). */
export type PaginatedResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** The cursor of the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}
