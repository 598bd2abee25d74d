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
  /** `true` when the prompt requires the argument. */
  readonly required?: boolean | undefined
}

/** A prompt, or a template of one, that a user can select (server/prompts, prompt). */
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

/** Requests a page of the server's prompts (server/prompts, listing prompts). */
export type ListPromptsRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'prompts/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's prompts (server/prompts, listing prompts). */
export type ListPromptsResult = CacheableResult & {
  readonly prompts: readonly Prompt[]
  /** The cursor of the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response with a {@link ListPromptsResult}. */
export type ListPromptsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListPromptsResult
}

/** The name of a prompt and its arguments (server/prompts, getting a prompt). */
export type GetPromptRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** Text by argument name. */
  readonly arguments?: { readonly [name: string]: string } | undefined
}

/** Requests a prompt with its arguments filled in (server/prompts, getting a prompt). */
export type GetPromptRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'prompts/get'
  readonly params: GetPromptRequestParams
}

/** A prompt with its arguments filled in (server/prompts, getting a prompt). */
export type GetPromptResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly description?: string | undefined
  readonly messages: readonly PromptMessage[]
}

/** The response with a {@link GetPromptResult}, or a request for input. */
export type GetPromptResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | GetPromptResult
}

/** Notifies subscribers that the list of prompts has changed (server/prompts, list changed notification). */
export type PromptListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/prompts/list_changed'
  readonly params?: NotificationParams | undefined
}
