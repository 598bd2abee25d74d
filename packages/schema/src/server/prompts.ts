import type { Role } from '../basic/annotations.ts'
import type { ContentBlock } from '../basic/content.ts'
import type { BaseMetadata, Icons } from '../basic/implementation.ts'
import type { MetaObject, NotificationParams, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'
import type { InputRequiredResult, InputResponseRequestParams } from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import type { Cursor, PaginatedRequestParams } from './pagination.ts'

/** An argument of a prompt (server/prompts, prompt). */
export type PromptArgument = BaseMetadata & {
  readonly description?: string | undefined
  /** Whether the prompt cannot be had without it. */
  readonly required?: boolean | undefined
}

/** A prompt, or a template of one, that a user can pick (server/prompts, prompt). */
export type Prompt = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly description?: string | undefined
    readonly arguments?: readonly PromptArgument[] | undefined
  }

/** One message of a prompt (server/prompts, prompt message). */
export type PromptMessage = {
  readonly role: Role
  readonly content: ContentBlock
}

/** Asks for a page of the server's prompts (server/prompts, listing prompts). */
export type ListPromptsRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'prompts/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's prompts (server/prompts, listing prompts). */
export type ListPromptsResult = CacheableResult & {
  readonly prompts: readonly Prompt[]
  /** Asks for the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response that brings a {@link ListPromptsResult}. */
export type ListPromptsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListPromptsResult
}

/** Which prompt to fill in, and with what (server/prompts, getting a prompt). */
export type GetPromptRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** Text by the name of the argument. */
  readonly arguments?: { readonly [name: string]: string } | undefined
}

/** Asks for a prompt, filled in (server/prompts, getting a prompt). */
export type GetPromptRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'prompts/get'
  readonly params: GetPromptRequestParams
}

/** A prompt, filled in (server/prompts, getting a prompt). */
export type GetPromptResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly description?: string | undefined
  readonly messages: readonly PromptMessage[]
}

/** The response that brings a {@link GetPromptResult}, or asks for input first. */
export type GetPromptResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | GetPromptResult
}

/** The list of prompts is another now; told to those who listen for it (server/prompts, list changed notification). */
export type PromptListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/prompts/list_changed'
  readonly params?: NotificationParams | undefined
}
