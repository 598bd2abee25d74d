import * as z from 'zod/mini'
import { contentBlock } from '../basic/content.zod.ts'
import { jsonObject, jsonValue } from '../basic/json.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { requestValidator, responseValidator } from '../basic/rpc.zod.ts'
import { inputRequiredResult, inputResponseRequestParamsShape } from '../patterns/mrtr.zod.ts'
import { pageShape, paginatedRequestParams } from './pagination.zod.ts'
import type {
  CallToolRequest,
  CallToolRequestParams,
  CallToolResult,
  CallToolResultResponse,
  ListToolsRequest,
  ListToolsResult,
  ListToolsResultResponse,
} from './tool-requests.ts'
import { tool } from './tools.zod.ts'

/** Validates a {@link ListToolsRequest}. */
export const listToolsRequest: z.ZodMiniType<ListToolsRequest> = requestValidator('tools/list', paginatedRequestParams)

/** Validates a {@link ListToolsResult}. */
export const listToolsResult: z.ZodMiniType<ListToolsResult> = z.looseObject({ ...pageShape, tools: z.array(tool) })

/** Validates a {@link ListToolsResultResponse}. */
export const listToolsResultResponse: z.ZodMiniType<ListToolsResultResponse> = responseValidator(listToolsResult)

/** Validates a {@link CallToolRequestParams}. */
export const callToolRequestParams: z.ZodMiniType<CallToolRequestParams> = z.looseObject({
  ...inputResponseRequestParamsShape,
  name: z.string(),
  arguments: z.optional(jsonObject),
})

/** Validates a {@link CallToolRequest}. */
export const callToolRequest: z.ZodMiniType<CallToolRequest> = requestValidator('tools/call', callToolRequestParams)

/** Validates a {@link CallToolResult}. */
export const callToolResult: z.ZodMiniType<CallToolResult> = z.looseObject({
  ...resultShape,
  content: z.array(contentBlock),
  structuredContent: z.optional(jsonValue),
  isError: z.optional(z.boolean()),
})

/** Validates a {@link CallToolResultResponse}. */
export const callToolResultResponse: z.ZodMiniType<CallToolResultResponse> = responseValidator(
  z.union([inputRequiredResult, callToolResult]),
)
