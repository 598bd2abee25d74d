import type { ContentBlock, JsonObject, JsonValue, ToolAnnotations, ToolTypes, TypeCarrier } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { Context, RequestContext, TaskChoice, InputRequiredReturn } from './context.ts'
import type { BaseDefinition } from './base-definition.ts'
import type { SchemaInput, AnySchema, SchemaOutput, CallerOutput, CallerInput } from '../json-schema/compile-schema.ts'

/** A tool, as {@link tool} makes it, with the types that its callers write and read. */
export interface Tool<Name extends string = string, Input = unknown, Output = unknown>
  extends TypeCarrier<ToolTypes<Input, Output>> {
  readonly name: Name
  readonly definition: AnyToolDefinition
}

/** The definition of a tool. `Input` and `Output` are inferred from the schemas. */
export interface ToolDefinition<Input extends AnySchema | undefined, Output extends AnySchema | undefined>
  extends BaseDefinition {
  /** The purpose of the tool, for the model. */
  readonly description: string
  /** The arguments, an object. Without it the tool takes none. */
  readonly input?: Input
  /** @deprecated The arguments' schema is called `input` here. */
  readonly inputSchema?: 'it is called input'
  /**
   * The values in arrays and members of objects that the arguments of a call may have. Default: the server's bound.
   * Calls with more are rejected before the schema sees them. A schema that is not zod's, or that transforms or runs
   * code of its own, may have to be given less: no arguments are validated that could break it in more than 10,000
   * places.
   */
  readonly maxArgumentElements?: number | undefined
  /** The structured result. With it, `run` returns what the schema accepts. */
  readonly output?: Output
  /** @deprecated The result's schema is called `output` here. */
  readonly outputSchema?: 'it is called output'
  /** Hints about the tool's behaviour. */
  readonly annotations?: ToolAnnotations | undefined
  /**
   * Decides whether a call runs as a task, at a server with tasks. Default: `never`. A function decides once a
   * request, by the arguments. A tool that asks first and becomes a task later uses `ctx.continueAsTask` instead.
   */
  readonly task?: TaskChoice | ((args: SchemaOutput<Input>, ctx: RequestContext) => TaskChoice) | undefined
  /**
   * Declares that every effect of the tool honours its idempotency keys. A client then sends a call again by itself
   * after its connection was lost, because no effect is repeated. Every effect belongs into a `ctx.step` whose
   * `idempotencyKey` goes to the called system.
   */
  readonly keyedEffects?: boolean | undefined
  /**
   * Runs the tool. A {@link ToolError} that it throws becomes a result with `isError`, whose text is the error's
   * message. An `McpError` becomes that protocol error. Any other error becomes a result with `isError` that says only
   * that the tool failed. The error itself is logged.
   */
  run(args: SchemaOutput<Input>, ctx: Context): Awaitable<ToolReturn<Output>>
}

/** A {@link ToolDefinition} of which only the server knows what goes in and comes out. */
export interface AnyToolDefinition extends BaseDefinition {
  readonly description: string
  readonly input?: AnySchema | undefined
  readonly maxArgumentElements?: number | undefined
  readonly output?: AnySchema | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly task?: TaskChoice | ((args: never, ctx: RequestContext) => TaskChoice) | undefined
  readonly keyedEffects?: boolean | undefined
  run(args: unknown, ctx: Context): Awaitable<unknown>
}

/**
 * The return type of `run`: text or content, a value that the output schema accepts, a whole result, or
 * `inputRequired`. The compiler does not look into the conditional type while it infers `Output`. It finds the type of
 * literals, such as that of `type: 'text'`, in `FullToolResult`, which therefore is outside of the condition.
 */
export type ToolReturn<Output> =
  | FullToolResult
  | InputRequiredReturn
  | (Output extends undefined ? string | ToolContent : SchemaInput<Output>)

/** The parts of a tool's result. */
export interface ToolContent {
  /** The content for the model. */
  readonly content: readonly ContentBlock[]
  /** The structured content for programs. */
  readonly structuredContent?: JsonValue | undefined
  /** The tool failed, and the content says why. */
  readonly isError?: boolean | undefined
  readonly _meta?: JsonObject | undefined
}

const fullResultBrand = Symbol('full tool result')

/** A result that says of itself that it is whole, and not the structured content of one. */
export interface FullToolResult extends Partial<ToolContent> {
  readonly [fullResultBrand]: true
}

/**
 * Defines a tool. Nothing is checked before `createServer`.
 *
 * @example
 * const greet = tool('greet', {
 *   description: 'Greets a person',
 *   input: z.object({ name: z.string() }),
 *   run: ({ name }) => `Hello, ${name}!`,
 * })
 */
export function tool<
  const Name extends string,
  Input extends AnySchema | undefined = undefined,
  Output extends AnySchema | undefined = undefined,
>(name: Name, definition: ToolDefinition<Input, Output>): Tool<Name, CallerInput<Input>, CallerOutput<Output>> {
  return { name, definition }
}

/**
 * A whole result, for a tool with `output` that wants to write its content itself, add `_meta` or fail:
 * `toolResult({ isError: true, content: [{ type: 'text', text: 'Sold out' }] })`.
 */
export function toolResult(result: Partial<ToolContent>): FullToolResult {
  return { ...result, [fullResultBrand]: true }
}

/** Returns true for a value of {@link toolResult}. */
export function isFullToolResult(value: unknown): value is FullToolResult {
  return typeof value === 'object' && value !== null && fullResultBrand in value
}

/**
 * A failure of a tool that its model should read, such as the reason why arguments make no sense. Thrown in a tool's
 * `run`, it ends the call with a result with `isError` whose text is the message (server/tools, error handling). It is
 * not logged. The text of any other error stays with the server.
 *
 * @example
 * if (divisor === 0) throw new ToolError('The divisor must not be 0')
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** Returns true for a {@link ToolError}, from this copy of the package or another. */
export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && error.name === 'ToolError'
}
