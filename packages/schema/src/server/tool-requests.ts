import { type ContentBlock, contentBlock } from '../basic/content.ts'
import type { JsonObject, JsonValue } from '@x/core'
import type { ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { inputResponseMembers, type InputResponseRequestParams } from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import { type Cursor, pageMembers } from './pagination.ts'
import { type Tool, tool } from './tools.ts'
import { boolean, jsonObject, jsonValue, list, optional, type Shape, shape, string } from '../basic/shape.ts'

/** A page of the server's tools (server/tools, listing tools). */
export type ListToolsResult = CacheableResult & {
  readonly tools: readonly Tool[]
  /** The cursor of the next page. Absent on the last page. */
  readonly nextCursor?: Cursor | undefined
}

/** The shape of {@link ListToolsResult}. */
export const listToolsResult: Shape<ListToolsResult> = shape<ListToolsResult>({ ...pageMembers, tools: list(tool) })

/** The name of a tool and its arguments (server/tools, calling tools). */
export type CallToolRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** The arguments, as the tool's input schema describes them. */
  readonly arguments?: JsonObject | undefined
}

/** The shape of {@link CallToolRequestParams}. */
export const callToolRequestParams: Shape<CallToolRequestParams> = shape<CallToolRequestParams>({
  ...inputResponseMembers,
  name: string,
  arguments: optional(jsonObject),
})

/** The result of a tool (server/tools, tool result). */
export type CallToolResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** The content for the model. */
  readonly content: readonly ContentBlock[]
  /** The result for programs: a JSON value that the tool's output schema describes. */
  readonly structuredContent?: JsonValue | undefined
  /** True if the tool failed. `content` then contains the reason. Absent means success. */
  readonly isError?: boolean | undefined
}

/** The shape of {@link CallToolResult}. */
export const callToolResult: Shape<CallToolResult> = shape<CallToolResult>({
  ...resultMembers,
  content: list(contentBlock),
  structuredContent: optional(jsonValue),
  isError: optional(boolean),
})
