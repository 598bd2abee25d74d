import { type ContentBlock, contentBlock } from '../basic/content.ts'
import { type BaseMetadata, baseMetadataMembers, type Icons, iconsMembers } from '../basic/implementation.ts'
import { type MetaObject, metaObject, type ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { inputResponseMembers, type InputResponseRequestParams } from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import { type Cursor, pageMembers } from './pagination.ts'
import { type Role, role } from './resources.ts'
import { boolean, list, map, optional, type Shape, shape, string } from '../basic/shape.ts'

/** An argument of a prompt (server/prompts, prompt). */
export type PromptArgument = BaseMetadata & {
  readonly description?: string | undefined
  /** The prompt requires this argument. */
  readonly required?: boolean | undefined
}

export const promptArgument: Shape<PromptArgument> = shape<PromptArgument>({
  ...baseMetadataMembers,
  description: optional(string),
  required: optional(boolean),
})

/** A prompt, or a template for prompts, that a user can select (server/prompts, prompt). */
export type Prompt = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly description?: string | undefined
    readonly arguments?: readonly PromptArgument[] | undefined
  }

export const prompt: Shape<Prompt> = shape<Prompt>({
  ...baseMetadataMembers,
  description: optional(string),
  ...iconsMembers,
  _meta: optional(metaObject),
  arguments: optional(list(promptArgument)),
})

/** One message of a prompt (server/prompts, prompt message). */
export type PromptMessage = {
  readonly role: Role
  readonly content: ContentBlock
}

export const promptMessage: Shape<PromptMessage> = shape<PromptMessage>({ role, content: contentBlock })

/** A page of the server's prompts (server/prompts, listing prompts). */
export type ListPromptsResult = CacheableResult & {
  readonly prompts: readonly Prompt[]
  /** Where the next page begins. Absent on the last one. */
  readonly nextCursor?: Cursor | undefined
}

export const listPromptsResult: Shape<ListPromptsResult> = shape<ListPromptsResult>({
  ...pageMembers,
  prompts: list(prompt),
})

/** Which prompt, with which arguments (server/prompts, getting a prompt). */
export type GetPromptRequestParams = InputResponseRequestParams & {
  readonly name: string
  /** Values of the arguments, by name. */
  readonly arguments?: { readonly [name: string]: string } | undefined
}

export const getPromptRequestParams: Shape<GetPromptRequestParams> = shape<GetPromptRequestParams>({
  ...inputResponseMembers,
  name: string,
  arguments: optional(map(string)),
})

/** A prompt with its arguments filled in (server/prompts, getting a prompt). */
export type GetPromptResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly description?: string | undefined
  readonly messages: readonly PromptMessage[]
}

export const getPromptResult: Shape<GetPromptResult> = shape<GetPromptResult>({
  ...resultMembers,
  description: optional(string),
  messages: list(promptMessage),
})
