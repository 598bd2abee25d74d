import * as z from 'zod/mini'
import { role } from '../basic/annotations.zod.ts'
import { contentBlock } from '../basic/content.zod.ts'
import { baseMetadataShape, iconsShape } from '../basic/implementation.zod.ts'
import { metaObject, notificationParams } from '../basic/meta.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { notificationValidator, requestValidator, responseValidator } from '../basic/rpc.zod.ts'
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
export const promptArgument: z.ZodMiniType<PromptArgument> = z.looseObject({
  ...baseMetadataShape,
  description: z.optional(z.string()),
  required: z.optional(z.boolean()),
})

/** Validates a {@link Prompt}. */
export const prompt: z.ZodMiniType<Prompt> = z.looseObject({
  ...baseMetadataShape,
  ...iconsShape,
  _meta: z.optional(metaObject),
  description: z.optional(z.string()),
  arguments: z.optional(z.array(promptArgument)),
})

/** Validates a {@link PromptMessage}. */
export const promptMessage: z.ZodMiniType<PromptMessage> = z.looseObject({ role, content: contentBlock })

/** Validates a {@link ListPromptsRequest}. */
export const listPromptsRequest: z.ZodMiniType<ListPromptsRequest> = requestValidator(
  'prompts/list',
  paginatedRequestParams,
)

/** Validates a {@link ListPromptsResult}. */
export const listPromptsResult: z.ZodMiniType<ListPromptsResult> = z.looseObject({
  ...pageShape,
  prompts: z.array(prompt),
})

/** Validates a {@link ListPromptsResultResponse}. */
export const listPromptsResultResponse: z.ZodMiniType<ListPromptsResultResponse> = responseValidator(listPromptsResult)

/** Validates a {@link GetPromptRequestParams}. */
export const getPromptRequestParams: z.ZodMiniType<GetPromptRequestParams> = z.looseObject({
  ...inputResponseRequestParamsShape,
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.string())),
})

/** Validates a {@link GetPromptRequest}. */
export const getPromptRequest: z.ZodMiniType<GetPromptRequest> = requestValidator('prompts/get', getPromptRequestParams)

/** Validates a {@link GetPromptResult}. */
export const getPromptResult: z.ZodMiniType<GetPromptResult> = z.looseObject({
  ...resultShape,
  description: z.optional(z.string()),
  messages: z.array(promptMessage),
})

/** Validates a {@link GetPromptResultResponse}. */
export const getPromptResultResponse: z.ZodMiniType<GetPromptResultResponse> = responseValidator(
  z.union([inputRequiredResult, getPromptResult]),
)

/** Validates a {@link PromptListChangedNotification}. */
export const promptListChangedNotification: z.ZodMiniType<PromptListChangedNotification> = notificationValidator(
  'notifications/prompts/list_changed',
  z.optional(notificationParams),
)
