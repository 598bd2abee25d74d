import {
  type AudioContent,
  audioContent,
  type ContentBlock,
  contentBlock,
  type ImageContent,
  imageContent,
  type TextContent,
  textContent,
} from '../basic/content.ts'
import type { JsonObject, JsonValue } from '@x/core'
import { type MetaObject, metaObject } from '../basic/meta.ts'
import { type Role, role } from '../server/resources.ts'
import { type Tool, tool } from '../server/tools.ts'
import {
  boolean,
  unionByMember,
  integer,
  jsonObject,
  jsonValue,
  list,
  number,
  numberFromZeroToOne,
  optional,
  type Shape,
  shape,
  string,
  union,
  literal,
} from '../basic/shape.ts'

/** A model's request to call a tool (client/sampling, sampling with tools). */
export type ToolUseContent = {
  readonly type: 'tool_use'
  /** The id that the {@link ToolResultContent} of this call repeats. */
  readonly id: string
  readonly name: string
  /** The arguments, as the tool's input schema describes them. */
  readonly input: JsonObject
  /** Metadata. A server keeps it when it sends the message again, because the client may use it for caching. */
  readonly _meta?: MetaObject | undefined
}

/** The shape of {@link ToolUseContent}. */
export const toolUseContent: Shape<ToolUseContent> = shape<ToolUseContent>({
  type: literal('tool_use'),
  id: string,
  name: string,
  input: jsonObject,
  _meta: optional(metaObject),
})

/** The result of a tool call that a model requested (client/sampling, sampling with tools). */
export type ToolResultContent = {
  readonly type: 'tool_result'
  /** The `id` of the {@link ToolUseContent} whose result this is. */
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  /** A JSON value that the tool's output schema describes. */
  readonly structuredContent?: JsonValue | undefined
  /** True if the tool failed. `content` then contains the reason. Absent means success. */
  readonly isError?: boolean | undefined
  /** Metadata. A server keeps it when it sends the message again, because the client may use it for caching. */
  readonly _meta?: MetaObject | undefined
}

/** The shape of {@link ToolResultContent}. */
export const toolResultContent: Shape<ToolResultContent> = shape<ToolResultContent>({
  type: literal('tool_result'),
  toolUseId: string,
  content: list(contentBlock),
  structuredContent: optional(jsonValue),
  isError: optional(boolean),
  _meta: optional(metaObject),
})

/** One part of a message to or from a model (client/sampling, message content). */
export type SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

/** The shape of {@link SamplingMessageContentBlock}. */
export const samplingMessageContentBlock: Shape<SamplingMessageContentBlock> = unionByMember<
  SamplingMessageContentBlock,
  'type'
>('type', {
  text: textContent,
  image: imageContent,
  audio: audioContent,
  tool_use: toolUseContent,
  tool_result: toolResultContent,
})

/** A message to or from a model (client/sampling, messages). */
export type SamplingMessage = {
  readonly role: Role
  readonly content: SamplingMessageContentBlock | readonly SamplingMessageContentBlock[]
  readonly _meta?: MetaObject | undefined
}

const messageMembers = {
  role,
  content: union([samplingMessageContentBlock, list(samplingMessageContentBlock)]),
  _meta: optional(metaObject),
}

/** The shape of {@link SamplingMessage}. */
export const samplingMessage: Shape<SamplingMessage> = shape<SamplingMessage>(messageMembers)

/**
 * A part of a model's name, such as `sonnet`, or another hint that a client understands (client/sampling, model hints).
 */
export type ModelHint = {
  readonly name?: string | undefined
}

/** The shape of {@link ModelHint}. */
export const modelHint: Shape<ModelHint> = shape<ModelHint>({ name: optional(string) })

/**
 * A server's preferences for a model. The client decides (client/sampling, model preferences). Priorities are numbers
 * from 0 to 1.
 */
export type ModelPreferences = {
  /** The hints, in order of preference. The client uses the first one that it can match. */
  readonly hints?: readonly ModelHint[] | undefined
  readonly costPriority?: number | undefined
  readonly speedPriority?: number | undefined
  readonly intelligencePriority?: number | undefined
}

/** The shape of {@link ModelPreferences}. */
export const modelPreferences: Shape<ModelPreferences> = shape<ModelPreferences>({
  hints: optional(list(modelHint)),
  costPriority: optional(numberFromZeroToOne),
  speedPriority: optional(numberFromZeroToOne),
  intelligencePriority: optional(numberFromZeroToOne),
})

/**
 * The rule for the model's use of tools: `auto` allows it, `required` demands it, and `none` forbids it
 * (client/sampling, tool choice modes).
 */
export type ToolChoice = {
  readonly mode?: 'auto' | 'required' | 'none' | undefined
}

/** The shape of {@link ToolChoice}. */
export const toolChoice: Shape<ToolChoice> = shape<ToolChoice>({ mode: optional(literal('auto', 'required', 'none')) })

/** The params of a sampling request (client/sampling, creating messages). */
export type CreateMessageRequestParams = {
  readonly messages: readonly SamplingMessage[]
  /** The maximum number of tokens to sample. The client may sample fewer. */
  readonly maxTokens: number
  readonly modelPreferences?: ModelPreferences | undefined
  /** The system prompt. The client may change or omit it. */
  readonly systemPrompt?: string | undefined
  /**
   * The context that the client should include. Values other than `none` are deprecated, and need the capability
   * `sampling.context`.
   */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers' | undefined
  readonly temperature?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  /** Parameters for the provider of the model. */
  readonly metadata?: JsonObject | undefined
  /** The tools that the model may use. They need the capability `sampling.tools`. */
  readonly tools?: readonly Tool[] | undefined
  /** The model's use of the tools. It needs the capability `sampling.tools`. */
  readonly toolChoice?: ToolChoice | undefined
}

/** The shape of {@link CreateMessageRequestParams}. */
export const createMessageRequestParams: Shape<CreateMessageRequestParams> = shape<CreateMessageRequestParams>({
  messages: list(samplingMessage),
  maxTokens: integer,
  modelPreferences: optional(modelPreferences),
  systemPrompt: optional(string),
  includeContext: optional(literal('none', 'thisServer', 'allServers')),
  temperature: optional(number),
  stopSequences: optional(list(string)),
  metadata: optional(jsonObject),
  tools: optional(list(tool)),
  toolChoice: optional(toolChoice),
})

/**
 * Requests a message from the client's model. It is a part of an `InputRequiredResult` (client/sampling, creating
 * messages).
 */
export type CreateMessageRequest = {
  readonly method: 'sampling/createMessage'
  readonly params: CreateMessageRequestParams
}

/** The shape of {@link CreateMessageRequest}. */
export const createMessageRequest: Shape<CreateMessageRequest> = shape<CreateMessageRequest>({
  method: literal('sampling/createMessage'),
  params: createMessageRequestParams,
})

/** The message that the model created (client/sampling, creating messages). */
export type CreateMessageResult = SamplingMessage & {
  /** The name of the model. */
  readonly model: string
  /**
   * The reason why the model stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a provider's own reason.
   */
  readonly stopReason?: string | undefined
}

/** The shape of {@link CreateMessageResult}. */
export const createMessageResult: Shape<CreateMessageResult> = shape<CreateMessageResult>({
  ...messageMembers,
  model: string,
  stopReason: optional(string),
})
