import type { Role } from '../basic/annotations.ts'
import type { AudioContent, ContentBlock, ImageContent, TextContent } from '../basic/content.ts'
import type { JsonObject, JsonValue } from '../basic/json.ts'
import type { MetaObject } from '../basic/meta.ts'
import type { Tool } from '../server/tools.ts'

/** A model wants a tool called (client/sampling, sampling with tools). */
export type ToolUseContent = {
  readonly type: 'tool_use'
  /** Pairs the call with its {@link ToolResultContent}. */
  readonly id: string
  readonly name: string
  /** What the tool's input schema describes. */
  readonly input: JsonObject
  /** Keep it when the message is sent again: the client may cache by it. */
  readonly _meta?: MetaObject | undefined
}

/** What came of a tool that a model wanted called (client/sampling, sampling with tools). */
export type ToolResultContent = {
  readonly type: 'tool_result'
  /** The id of the {@link ToolUseContent}. */
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  /** Any JSON value, as the tool's output schema describes it. */
  readonly structuredContent?: JsonValue | undefined
  /** The tool failed, and `content` says why; absent means it did not. */
  readonly isError?: boolean | undefined
  /** Keep it when the message is sent again: the client may cache by it. */
  readonly _meta?: MetaObject | undefined
}

/** One piece of a message to or from a model (client/sampling, message content). */
export type SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

/** A message to or from a model (client/sampling, messages). */
export type SamplingMessage = {
  readonly role: Role
  readonly content: SamplingMessageContentBlock | readonly SamplingMessageContentBlock[]
  readonly _meta?: MetaObject | undefined
}

/** A part of a model's name, such as `sonnet`, or whatever else a client understands (client/sampling, model hints). */
export type ModelHint = {
  readonly name?: string | undefined
}

/** What the server would like in a model; the client decides (client/sampling, model preferences). Weights are 0 to 1. */
export type ModelPreferences = {
  /** In order of preference; the first that fits is taken. */
  readonly hints?: readonly ModelHint[] | undefined
  readonly costPriority?: number | undefined
  readonly speedPriority?: number | undefined
  readonly intelligencePriority?: number | undefined
}

/** Whether the model uses tools: as it likes, at least one, or none (client/sampling, tool choice modes). */
export type ToolChoice = {
  readonly mode?: 'auto' | 'required' | 'none' | undefined
}

/** What to ask a model (client/sampling, creating messages). */
export type CreateMessageRequestParams = {
  readonly messages: readonly SamplingMessage[]
  /** The client may sample fewer tokens, never more. */
  readonly maxTokens: number
  readonly modelPreferences?: ModelPreferences | undefined
  /** The client may change it or leave it out. */
  readonly systemPrompt?: string | undefined
  /** Values other than `none` are deprecated, and need the capability `sampling.context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers' | undefined
  readonly temperature?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  /** For the provider of the model, in the provider's own terms. */
  readonly metadata?: JsonObject | undefined
  /** Needs the capability `sampling.tools`. */
  readonly tools?: readonly Tool[] | undefined
  /** Needs the capability `sampling.tools`. */
  readonly toolChoice?: ToolChoice | undefined
}

/** Asks a client to sample its model; travels in an `InputRequiredResult` (client/sampling, creating messages). */
export type CreateMessageRequest = {
  readonly method: 'sampling/createMessage'
  readonly params: CreateMessageRequestParams
}

/** What the model said (client/sampling, creating messages). */
export type CreateMessageResult = SamplingMessage & {
  /** The model that said it. */
  readonly model: string
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a provider's own reason. */
  readonly stopReason?: string | undefined
}
