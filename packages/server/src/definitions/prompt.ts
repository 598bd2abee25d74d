import type { TypeCarrier } from '@x/exchange'
import type { ContentBlock, JsonObject, PromptMessage } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { Context, InputRequiredReturn } from './context.ts'
import type { Completer, BaseDefinition } from './base-definition.ts'
import type { RawShape, OneSchema, AnySchema, SchemaOutput, PromptArguments } from '../json-schema/compile-schema.ts'

/** A prompt, as {@link prompt} makes it, with the type of the arguments that callers pass. */
export interface Prompt<Name extends string = string, Input = unknown> extends TypeCarrier<Input> {
  readonly name: Name
  readonly definition: AnyPromptDefinition
}

/** The definition of a prompt. `Input` is inferred from the schema. */
export interface PromptDefinition<Input extends AnySchema | RawShape | undefined> extends BaseDefinition {
  readonly description?: string | undefined
  /** The schema of the arguments: an object of strings, which the schema may convert to other types. */
  readonly input?: OneSchema<Input>
  /** @deprecated The arguments' schema is called `input` here. */
  readonly argsSchema?: 'it is called input'
  /** The functions that suggest values, by the names of the arguments. */
  readonly complete?: { readonly [argument: string]: Completer } | undefined
  /**
   * Writes the messages. A string is one message of the user. An `McpError` that it throws becomes that protocol error.
   * Any other error, also a `ToolError`, is logged and becomes -32603 without its text.
   */
  run(args: SchemaOutput<Input>, ctx: Context): Awaitable<PromptReturn | InputRequiredReturn>
}

/** A {@link PromptDefinition} with any type of arguments. */
export interface AnyPromptDefinition extends PromptDefinition<AnySchema | undefined> {}

/** The return type of a prompt's `run`. */
export type PromptReturn = string | ContentBlock | readonly PromptMessage[] | PromptContent

/** The parts of a prompt's result. */
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
