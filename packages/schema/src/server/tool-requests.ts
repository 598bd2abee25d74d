import { type ContentBlock, contentBlock } from '../basic/content.ts'
import type { JsonObject, JsonValue } from '@x/core'
import type { ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { jsonrpc, type RequestId, requestId } from '../basic/rpc.ts'
import {
  type InputRequiredResult,
  inputRequiredResult,
  inputResponseMembers,
  type InputResponseRequestParams,
} from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import { type Cursor, pageMembers, type PaginatedRequestParams, paginatedRequestParams } from './pagination.ts'
import { type Tool, tool } from './tools.ts'
import { boolean, jsonObject, jsonValue, list, optional, shape, string, union, literal } from '../basic/shape.ts'

/** Requests a page of the server's tools (server/tools, listing tools). */
export type ListToolsRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/list'
  readonly params: PaginatedRequestParams
}

/** The shape of {@link ListToolsRequest}. */
export const listToolsRequest = shape<ListToolsRequest>({
  jsonrpc,
  id: requestId,
  method: literal('tools/list'),
  params: paginatedRequestParams,
})

/** A page of the server's tools (server/tools, listing tools). */
export type ListToolsResult = CacheableResult & {
  readonly tools: readonly Tool[]
  /** The cursor of the next page, absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The shape of {@link ListToolsResult}. */
export const listToolsResult = shape<ListToolsResult>({ ...pageMembers, tools: list(tool) })

/** The response with a {@link ListToolsResult}. */
export type ListToolsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListToolsResult
}

/** The shape of {@link ListToolsResultResponse}. */
export const listToolsResultResponse = shape<ListToolsResultResponse>({
  jsonrpc,
  id: requestId,
  result: listToolsResult,
})

/** The name of a tool and its arguments (server/tools, calling tools). */
export type CallToolRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** The arguments, as the tool's input schema describes them. */
  readonly arguments?: JsonObject | undefined
}

/** The shape of {@link CallToolRequestParams}. */
export const callToolRequestParams = shape<CallToolRequestParams>({
  ...inputResponseMembers,
  name: string,
  arguments: optional(jsonObject),
})

/** Calls a tool (server/tools, calling tools). */
export type CallToolRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/call'
  readonly params: CallToolRequestParams
}

/** The shape of {@link CallToolRequest}. */
export const callToolRequest = shape<CallToolRequest>({
  jsonrpc,
  id: requestId,
  method: literal('tools/call'),
  params: callToolRequestParams,
})

/** The result of a tool (server/tools, tool result). */
export type CallToolResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** The content for the model. */
  readonly content: readonly ContentBlock[]
  /** The content for programs: any JSON value, as the tool's output schema describes it. */
  readonly structuredContent?: JsonValue | undefined
  /** `true` when the tool itself failed, with the reason in `content`. Absent means success. */
  readonly isError?: boolean | undefined
}

/** The shape of {@link CallToolResult}. */
export const callToolResult = shape<CallToolResult>({
  ...resultMembers,
  content: list(contentBlock),
  structuredContent: optional(jsonValue),
  isError: optional(boolean),
})

/** The response with a {@link CallToolResult}, or a request for input. */
export type CallToolResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | CallToolResult
}

/** The shape of {@link CallToolResultResponse}. */
export const callToolResultResponse = shape<CallToolResultResponse>({
  jsonrpc,
  id: requestId,
  result: union([inputRequiredResult, callToolResult]),
})
