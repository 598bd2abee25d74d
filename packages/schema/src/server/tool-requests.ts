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
  /** Where the next page begins. Absent on the last one. */
  readonly nextCursor?: Cursor | undefined
}

export const listToolsResult: Shape<ListToolsResult> = shape<ListToolsResult>({ ...pageMembers, tools: list(tool) })

/** Which tool, with which arguments (server/tools, calling tools). */
export type CallToolRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** Arguments, as the tool's input schema describes them. */
  readonly arguments?: JsonObject | undefined
}

export const callToolRequestParams: Shape<CallToolRequestParams> = shape<CallToolRequestParams>({
  ...inputResponseMembers,
  name: string,
  arguments: optional(jsonObject),
})

/** What a tool returned (server/tools, tool result). */
export type CallToolResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  /** Content for the model. */
  readonly content: readonly ContentBlock[]
  /** For programs: a JSON value that the tool's output schema describes. */
  readonly structuredContent?: JsonValue | undefined
  /** The tool failed, and `content` says why. Absent means success. */
  readonly isError?: boolean | undefined
}

export const callToolResult: Shape<CallToolResult> = shape<CallToolResult>({
  ...resultMembers,
  content: list(contentBlock),
  structuredContent: optional(jsonValue),
  isError: optional(boolean),
})
