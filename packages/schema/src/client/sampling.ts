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

/** A model asks to call a tool (client/sampling, sampling with tools). */
export type ToolUseContent = {
  readonly type: 'tool_use'
  /** Repeated by the {@link ToolResultContent} of this call. */
  readonly id: string
  readonly name: string
  /** Arguments, as the tool's input schema describes them. */
  readonly input: JsonObject
  /** A server keeps it when it sends the message again, because the client may use it for caching. */
  readonly _meta?: MetaObject | undefined
}

export const toolUseContent: Shape<ToolUseContent> = shape<ToolUseContent>({
  type: literal('tool_use'),
  id: string,
  name: string,
  input: jsonObject,
  _meta: optional(metaObject),
})

/** What a tool returned that a model asked to call (client/sampling, sampling with tools). */
export type ToolResultContent = {
  readonly type: 'tool_result'
  /** `id` of the {@link ToolUseContent} whose result this is. */
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  /** JSON value that the tool's output schema describes. */
  readonly structuredContent?: JsonValue | undefined
  /** The tool failed, and `content` says why. Absent means success. */
  readonly isError?: boolean | undefined
  /** A server keeps it when it sends the message again, because the client may use it for caching. */
  readonly _meta?: MetaObject | undefined
}

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

export const samplingMessage: Shape<SamplingMessage> = shape<SamplingMessage>(messageMembers)

/**
 * Part of a model's name, such as `sonnet`, or another hint that a client understands (client/sampling, model hints).
 */
export type ModelHint = {
  readonly name?: string | undefined
}

export const modelHint: Shape<ModelHint> = shape<ModelHint>({ name: optional(string) })

/**
 * Which model a server would like; the client decides (client/sampling, model preferences). Priorities are numbers from
 * 0 to 1.
 */
export type ModelPreferences = {
  /** In order of preference. The client uses the first one that it can match. */
  readonly hints?: readonly ModelHint[] | undefined
  readonly costPriority?: number | undefined
  readonly speedPriority?: number | undefined
  readonly intelligencePriority?: number | undefined
}

export const modelPreferences: Shape<ModelPreferences> = shape<ModelPreferences>({
  hints: optional(list(modelHint)),
  costPriority: optional(numberFromZeroToOne),
  speedPriority: optional(numberFromZeroToOne),
  intelligencePriority: optional(numberFromZeroToOne),
})

/**
 * Whether the model uses tools: `auto` allows it, `required` demands it, and `none` forbids it (client/sampling, tool
 * choice modes).
 */
export type ToolChoice = {
  readonly mode?: 'auto' | 'required' | 'none' | undefined
}

export const toolChoice: Shape<ToolChoice> = shape<ToolChoice>({ mode: optional(literal('auto', 'required', 'none')) })

/** Params of a sampling request (client/sampling, creating messages). */
export type CreateMessageRequestParams = {
  readonly messages: readonly SamplingMessage[]
  /** Most tokens to sample. The client may sample fewer. */
  readonly maxTokens: number
  readonly modelPreferences?: ModelPreferences | undefined
  /** System prompt, which the client may change or omit. */
  readonly systemPrompt?: string | undefined
  /**
   * Context that the client should include. Values other than `none` are deprecated, and need the capability
   * `sampling.context`.
   */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers' | undefined
  readonly temperature?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  /** Parameters for the provider of the model. */
  readonly metadata?: JsonObject | undefined
  /** Tools that the model may use. They need the capability `sampling.tools`. */
  readonly tools?: readonly Tool[] | undefined
  /** How the model uses the tools. It needs the capability `sampling.tools`. */
  readonly toolChoice?: ToolChoice | undefined
}

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
 * Asks the client's model for a message. It is a part of an `InputRequiredResult` (client/sampling, creating messages).
 */
export type CreateMessageRequest = {
  readonly method: 'sampling/createMessage'
  readonly params: CreateMessageRequestParams
}

export const createMessageRequest: Shape<CreateMessageRequest> = shape<CreateMessageRequest>({
  method: literal('sampling/createMessage'),
  params: createMessageRequestParams,
})

/** What the model wrote (client/sampling, creating messages). */
export type CreateMessageResult = SamplingMessage & {
  /** Name of the model. */
  readonly model: string
  /** Why the model stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a provider's own reason. */
  readonly stopReason?: string | undefined
}

export const createMessageResult: Shape<CreateMessageResult> = shape<CreateMessageResult>({
  ...messageMembers,
  model: string,
  stopReason: optional(string),
})
