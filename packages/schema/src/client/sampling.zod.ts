import * as z from 'zod'
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
export const toolUseContent: z.ZodType<ToolUseContent> = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: jsonObject,
  _meta: metaObject.optional(),
})

/** Validates a {@link ToolResultContent}. */
export const toolResultContent: z.ZodType<ToolResultContent> = z.looseObject({
  type: z.literal('tool_result'),
  toolUseId: z.string(),
  content: z.array(contentBlock),
  structuredContent: jsonValue.optional(),
  isError: z.boolean().optional(),
  _meta: metaObject.optional(),
})

/** Validates a {@link SamplingMessageContentBlock}. */
export const samplingMessageContentBlock: z.ZodType<SamplingMessageContentBlock> = z.union([
  textContent,
  imageContent,
  audioContent,
  toolUseContent,
  toolResultContent,
])

const messageShape = {
  role,
  content: z.union([samplingMessageContentBlock, z.array(samplingMessageContentBlock)]),
  _meta: metaObject.optional(),
}

/** Validates a {@link SamplingMessage}. */
export const samplingMessage: z.ZodType<SamplingMessage> = z.looseObject(messageShape)

/** Validates a {@link ModelHint}. */
export const modelHint: z.ZodType<ModelHint> = z.looseObject({ name: z.string().optional() })

const weight = z.number().min(0).max(1)

/** Validates {@link ModelPreferences}. */
export const modelPreferences: z.ZodType<ModelPreferences> = z.looseObject({
  hints: z.array(modelHint).optional(),
  costPriority: weight.optional(),
  speedPriority: weight.optional(),
  intelligencePriority: weight.optional(),
})

/** Validates a {@link ToolChoice}. */
export const toolChoice: z.ZodType<ToolChoice> = z.looseObject({
  mode: z.enum(['auto', 'required', 'none']).optional(),
})

/** Validates a {@link CreateMessageRequestParams}. */
export const createMessageRequestParams: z.ZodType<CreateMessageRequestParams> = z.looseObject({
  messages: z.array(samplingMessage),
  maxTokens: z.int(),
  modelPreferences: modelPreferences.optional(),
  systemPrompt: z.string().optional(),
  includeContext: z.enum(['none', 'thisServer', 'allServers']).optional(),
  temperature: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  metadata: jsonObject.optional(),
  tools: z.array(tool).optional(),
  toolChoice: toolChoice.optional(),
})

/** Validates a {@link CreateMessageRequest}. */
export const createMessageRequest: z.ZodType<CreateMessageRequest> = z.looseObject({
  method: z.literal('sampling/createMessage'),
  params: createMessageRequestParams,
})

/** Validates a {@link CreateMessageResult}. */
export const createMessageResult: z.ZodType<CreateMessageResult> = z.looseObject({
  ...messageShape,
  model: z.string(),
  stopReason: z.string().optional(),
})
