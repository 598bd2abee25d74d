import type { ContentBlock } from '../basic/content.ts'
import type { JsonObject, JsonValue } from '@x/core'
import type { ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'
import type { InputRequiredResult, InputResponseRequestParams } from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import type { Cursor, PaginatedRequestParams } from './pagination.ts'
import type { Tool } from './tools.ts'

/** Requests a page of the server's tools (server/tools, listing tools). */
export type ListToolsRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's tools (server/tools, listing tools). */
export type ListToolsResult = CacheableResult & {
  readonly tools: readonly Tool[]
  /** The cursor of the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response with a {@link ListToolsResult}. */
export type ListToolsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListToolsResult
}

/** The name of a tool and its arguments (server/tools, calling tools). */
export type CallToolRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** The arguments, as the tool's input schema describes them. */
  readonly arguments?: JsonObject | undefined
}

/** Calls a tool (server/tools, calling tools). */
export type CallToolRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/call'
  readonly params: CallToolRequestParams
}

/** The result of a tool (server/tools, tool result). */
export type CallToolResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** The content for the model. */
  readonly content: readonly ContentBlock[]
  /** The content for programs: any JSON value, as the tool's output schema describes it. */
  readonly structuredContent?: JsonValue | undefined
  /** `true` when the tool itself failed, with the reason in `content`; absent means success. */
  readonly isError?: boolean | undefined
}

/** The response with a {@link CallToolResult}, or a request for input. */
export type CallToolResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | CallToolResult
}
