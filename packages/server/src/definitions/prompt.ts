import type { TypeCarrier } from '@x/exchange'
import type { ContentBlock, JsonObject, PromptMessage } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { Context, InputRequiredReturn } from './context.ts'
import type { Completer, BaseDefinition } from './base-definition.ts'
import type { RawShape, OneSchema, AnySchema, SchemaOutput, PromptArguments } from '../json-schema/compile-schema.ts'

/** A prompt, made by {@link prompt}, with the type of the arguments that callers pass. */
export interface Prompt<Name extends string = string, Input = unknown> extends TypeCarrier<Input> {
  readonly name: Name
  readonly definition: AnyPromptDefinition
}

/** A prompt as you define it. `Input` is inferred from the schema. */
export interface PromptDefinition<Input extends AnySchema | RawShape | undefined> extends BaseDefinition {
  readonly description?: string | undefined
  /** An object of strings, which the schema may convert to other types. */
  readonly input?: OneSchema<Input>
  /** @deprecated The arguments' schema is called `input` here. */
  readonly argsSchema?: 'it is called input'
  /** Suggest values, by the names of the arguments. */
  readonly complete?: { readonly [argument: string]: Completer } | undefined
  /**
   * Writes the messages; a string is one message of the user. An `McpError` that it throws becomes that protocol error.
   * Any other error, even a `ToolError`, is logged and becomes -32603 without its text.
   */
  run(args: SchemaOutput<Input>, ctx: Context): Awaitable<PromptReturn | InputRequiredReturn>
}

/** A {@link PromptDefinition} with any type of arguments. */
export interface AnyPromptDefinition extends PromptDefinition<AnySchema | undefined> {}

/** The messages that `run` of a prompt returns, in any of these forms. */
export type PromptReturn = string | ContentBlock | readonly PromptMessage[] | PromptContent

/** A prompt's result, in parts. */
export interface PromptContent {
  readonly messages: readonly PromptMessage[]
  readonly description?: string | undefined
  readonly _meta?: JsonObject | undefined
}

/**
 * Defines a prompt. Nothing is checked before `createServer`.
 *
 * @example
 * const review = prompt('review', {
 *   input: z.object({ code: z.string() }),
 *   run: ({ code }) => `Please review this code:\n${code}`,
 * })
 */
export function prompt<const Name extends string, Input extends AnySchema | RawShape | undefined = undefined>(
  name: Name,
  definition: PromptDefinition<Input>,
): Prompt<Name, PromptArguments<Input>>
export function prompt(name: string, definition: AnyPromptDefinition): Prompt {
  return { name, definition }
}
