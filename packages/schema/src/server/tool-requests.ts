import type { ContentBlock } from '../basic/content.ts'
import type { JsonObject, JsonValue } from '../basic/json.ts'
import type { ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'
import type { InputRequiredResult, InputResponseRequestParams } from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import type { Cursor, PaginatedRequestParams } from './pagination.ts'
import type { Tool } from './tools.ts'

/** Asks for a page of the server's tools (server/tools, listing tools). */
export type ListToolsRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's tools (server/tools, listing tools). */
export type ListToolsResult = CacheableResult & {
  readonly tools: readonly Tool[]
  /** Asks for the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response that brings a {@link ListToolsResult}. */
export type ListToolsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListToolsResult
}

/** Which tool to call, and with what (server/tools, calling tools). */
export type CallToolRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** What the tool's input schema describes. */
  readonly arguments?: JsonObject | undefined
}

/** Calls a tool (server/tools, calling tools). */
export type CallToolRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/call'
  readonly params: CallToolRequestParams
}

/** What a tool answered (server/tools, tool result). */
export type CallToolResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** What the model reads. */
  readonly content: readonly ContentBlock[]
  /** What programs read: any JSON value, as the tool's output schema describes it. */
  readonly structuredContent?: JsonValue | undefined
  /** The tool itself failed, and `content` tells the model why; absent means it did not. */
  readonly isError?: boolean | undefined
}

/** The response that brings a {@link CallToolResult}, or asks for input first. */
export type CallToolResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | CallToolResult
}
