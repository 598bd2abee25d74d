import type { RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'

/** Where a page ends, known to the server alone: pass it back as it came (server/utilities/pagination). */
export type Cursor = string

/** The params of a request that is answered in pages (server/utilities/pagination). */
export type PaginatedRequestParams = {
  readonly _meta: RequestMetaObject
  /** The `nextCursor` of the page before; absent asks for the first. */
  readonly cursor?: Cursor | undefined
}

/** A request that is answered in pages (server/utilities/pagination). */
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
  /** Asks for the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}
