import type { Role } from '../basic/annotations.ts'
import type { AudioContent, ContentBlock, ImageContent, TextContent } from '../basic/content.ts'
import type { JsonObject, JsonValue } from '@x/core'
import type { MetaObject } from '../basic/meta.ts'
import type { Tool } from '../server/tools.ts'

/** A model's request to call a tool (client/sampling, sampling with tools). */
export type ToolUseContent = {
  readonly type: 'tool_use'
  /** Pairs the call with its {@link ToolResultContent}. */
  readonly id: string
  readonly name: string
  /** The arguments, as the tool's input schema describes them. */
  readonly input: JsonObject
  /** Keep it when the message is sent again: the client may use it for caching. */
  readonly _meta?: MetaObject | undefined
}

/** The result of a tool call that a model requested (client/sampling, sampling with tools). */
export type ToolResultContent = {
  readonly type: 'tool_result'
  /** The id of the {@link ToolUseContent}. */
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  /** Any JSON value, as the tool's output schema describes it. */
  readonly structuredContent?: JsonValue | undefined
  /** `true` when the tool failed, with the reason in `content`; absent means success. */
  readonly isError?: boolean | undefined
  /** Keep it when the message is sent again: the client may use it for caching. */
  readonly _meta?: MetaObject | undefined
}

/** One part of a message to or from a model (client/sampling, message content). */
export type SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

/** A message to or from a model (client/sampling, messages). */
export type SamplingMessage = {
  readonly role: Role
  readonly content: SamplingMessageContentBlock | readonly SamplingMessageContentBlock[]
  readonly _meta?: MetaObject | undefined
}

/**
 * A part of a model's name, such as `sonnet`, or another hint that a client understands (client/sampling, model hints).
 */
export type ModelHint = {
  readonly name?: string | undefined
}

/** A server's preferences for a model; the client decides (client/sampling, model preferences). Weights are 0 to 1. */
export type ModelPreferences = {
  /** In order of preference; the first match is used. */
  readonly hints?: readonly ModelHint[] | undefined
  readonly costPriority?: number | undefined
  readonly speedPriority?: number | undefined
  readonly intelligencePriority?: number | undefined
}

/** The use of tools by the model: optional, at least one, or none (client/sampling, tool choice modes). */
export type ToolChoice = {
  readonly mode?: 'auto' | 'required' | 'none' | undefined
}

/** The params of a sampling request (client/sampling, creating messages). */
export type CreateMessageRequestParams = {
  readonly messages: readonly SamplingMessage[]
  /** The client may sample fewer tokens, never more. */
  readonly maxTokens: number
  readonly modelPreferences?: ModelPreferences | undefined
  /** The client may change or omit it. */
  readonly systemPrompt?: string | undefined
  /** Values other than `none` are deprecated, and need the capability `sampling.context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers' | undefined
  readonly temperature?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  /** Provider-specific parameters. */
  readonly metadata?: JsonObject | undefined
  /** Needs the capability `sampling.tools`. */
  readonly tools?: readonly Tool[] | undefined
  /** Needs the capability `sampling.tools`. */
  readonly toolChoice?: ToolChoice | undefined
}

/** Requests a sample from the client's model; part of an `InputRequiredResult` (client/sampling, creating messages). */
export type CreateMessageRequest = {
  readonly method: 'sampling/createMessage'
  readonly params: CreateMessageRequestParams
}

/** A message of the model (client/sampling, creating messages). */
export type CreateMessageResult = SamplingMessage & {
  /** The name of the model. */
  readonly model: string
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a provider's own reason. */
  readonly stopReason?: string | undefined
}
