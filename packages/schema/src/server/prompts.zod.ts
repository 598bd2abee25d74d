import * as z from 'zod'
import { role } from '../basic/annotations.zod.ts'
import { contentBlock } from '../basic/content.zod.ts'
import { baseMetadataShape, iconsShape } from '../basic/implementation.zod.ts'
import { metaObject, notificationParams } from '../basic/meta.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { notificationOf, requestOf, responseOf } from '../basic/rpc.zod.ts'
import { inputRequiredResult, inputResponseRequestParamsShape } from '../patterns/mrtr.zod.ts'
import { pageShape, paginatedRequestParams } from './pagination.zod.ts'
import type {
  GetPromptRequest,
  GetPromptRequestParams,
  GetPromptResult,
  GetPromptResultResponse,
  ListPromptsRequest,
  ListPromptsResult,
  ListPromptsResultResponse,
  Prompt,
  PromptArgument,
  PromptListChangedNotification,
  PromptMessage,
} from './prompts.ts'

/** Validates a {@link PromptArgument}. */
export const promptArgument: z.ZodType<PromptArgument> = z.looseObject({
  ...baseMetadataShape,
  description: z.string().optional(),
  required: z.boolean().optional(),
})

/** Validates a {@link Prompt}. */
export const prompt: z.ZodType<Prompt> = z.looseObject({
  ...baseMetadataShape,
  ...iconsShape,
  _meta: metaObject.optional(),
  description: z.string().optional(),
  arguments: z.array(promptArgument).optional(),
})

/** Validates a {@link PromptMessage}. */
export const promptMessage: z.ZodType<PromptMessage> = z.looseObject({ role, content: contentBlock })

/** Validates a {@link ListPromptsRequest}. */
export const listPromptsRequest: z.ZodType<ListPromptsRequest> = requestOf('prompts/list', paginatedRequestParams)

/** Validates a {@link ListPromptsResult}. */
export const listPromptsResult: z.ZodType<ListPromptsResult> = z.looseObject({
  ...pageShape,
  prompts: z.array(prompt),
})

/** Validates a {@link ListPromptsResultResponse}. */
export const listPromptsResultResponse: z.ZodType<ListPromptsResultResponse> = responseOf(listPromptsResult)

/** Validates a {@link GetPromptRequestParams}. */
export const getPromptRequestParams: z.ZodType<GetPromptRequestParams> = z.looseObject({
  ...inputResponseRequestParamsShape,
  name: z.string(),
  arguments: z.record(z.string(), z.string()).optional(),
})

/** Validates a {@link GetPromptRequest}. */
export const getPromptRequest: z.ZodType<GetPromptRequest> = requestOf('prompts/get', getPromptRequestParams)

/** Validates a {@link GetPromptResult}. */
export const getPromptResult: z.ZodType<GetPromptResult> = z.looseObject({
  ...resultShape,
  description: z.string().optional(),
  messages: z.array(promptMessage),
})

/** Validates a {@link GetPromptResultResponse}. */
export const getPromptResultResponse: z.ZodType<GetPromptResultResponse> = responseOf(
  z.union([inputRequiredResult, getPromptResult]),
)

/** Validates a {@link PromptListChangedNotification}. */
export const promptListChangedNotification: z.ZodType<PromptListChangedNotification> = notificationOf(
  'notifications/prompts/list_changed',
  notificationParams.optional(),
)
