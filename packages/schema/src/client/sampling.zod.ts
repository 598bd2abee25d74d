import * as z from 'zod/mini'
import { role } from '../basic/annotations.zod.ts'
import { audioContent, contentBlock, imageContent, textContent } from '../basic/content.zod.ts'
import { jsonObject, jsonValue } from '../basic/json.zod.ts'
import { metaObject } from '../basic/meta.zod.ts'
import { tool } from '../server/tools.zod.ts'
import type {
  CreateMessageRequest,
  CreateMessageRequestParams,
  CreateMessageResult,
  ModelHint,
  ModelPreferences,
  SamplingMessage,
  SamplingMessageContentBlock,
  ToolChoice,
  ToolResultContent,
  ToolUseContent,
} from './sampling.ts'

/** Validates a {@link ToolUseContent}. */
export const toolUseContent: z.ZodMiniType<ToolUseContent> = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: jsonObject,
  _meta: z.optional(metaObject),
})

/** Validates a {@link ToolResultContent}. */
export const toolResultContent: z.ZodMiniType<ToolResultContent> = z.looseObject({
  type: z.literal('tool_result'),
  toolUseId: z.string(),
  content: z.array(contentBlock),
  structuredContent: z.optional(jsonValue),
  isError: z.optional(z.boolean()),
  _meta: z.optional(metaObject),
})

/** Validates a {@link SamplingMessageContentBlock}. */
export const samplingMessageContentBlock: z.ZodMiniType<SamplingMessageContentBlock> = z.union([
  textContent,
  imageContent,
  audioContent,
  toolUseContent,
  toolResultContent,
])

const messageShape = {
  role,
  content: z.union([samplingMessageContentBlock, z.array(samplingMessageContentBlock)]),
  _meta: z.optional(metaObject),
}

/** Validates a {@link SamplingMessage}. */
export const samplingMessage: z.ZodMiniType<SamplingMessage> = z.looseObject(messageShape)

/** Validates a {@link ModelHint}. */
export const modelHint: z.ZodMiniType<ModelHint> = z.looseObject({ name: z.optional(z.string()) })

const weight = z.number().check(z.minimum(0), z.maximum(1))

/** Validates {@link ModelPreferences}. */
export const modelPreferences: z.ZodMiniType<ModelPreferences> = z.looseObject({
  hints: z.optional(z.array(modelHint)),
  costPriority: z.optional(weight),
  speedPriority: z.optional(weight),
  intelligencePriority: z.optional(weight),
})

/** Validates a {@link ToolChoice}. */
export const toolChoice: z.ZodMiniType<ToolChoice> = z.looseObject({
  mode: z.optional(z.enum(['auto', 'required', 'none'])),
})

/** Validates a {@link CreateMessageRequestParams}. */
export const createMessageRequestParams: z.ZodMiniType<CreateMessageRequestParams> = z.looseObject({
  messages: z.array(samplingMessage),
  maxTokens: z.int(),
  modelPreferences: z.optional(modelPreferences),
  systemPrompt: z.optional(z.string()),
  includeContext: z.optional(z.enum(['none', 'thisServer', 'allServers'])),
  temperature: z.optional(z.number()),
  stopSequences: z.optional(z.array(z.string())),
  metadata: z.optional(jsonObject),
  tools: z.optional(z.array(tool)),
  toolChoice: z.optional(toolChoice),
})

/** Validates a {@link CreateMessageRequest}. */
export const createMessageRequest: z.ZodMiniType<CreateMessageRequest> = z.looseObject({
  method: z.literal('sampling/createMessage'),
  params: createMessageRequestParams,
})

/** Validates a {@link CreateMessageResult}. */
export const createMessageResult: z.ZodMiniType<CreateMessageResult> = z.looseObject({
  ...messageShape,
  model: z.string(),
  stopReason: z.optional(z.string()),
})
