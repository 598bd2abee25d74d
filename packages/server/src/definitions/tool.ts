import type { ToolTypes, TypeCarrier } from '@x/exchange'
import type { ContentBlock, JsonObject, JsonValue, Tool as ListedTool } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { Context, RequestContext, TaskChoice, InputRequiredReturn } from './context.ts'
import type { BaseDefinition } from './base-definition.ts'
import type {
  RawShape,
  OneSchema,
  SchemaInput,
  AnySchema,
  SchemaOutput,
  CallerOutput,
  CallerInput,
} from '../json-schema/compile-schema.ts'

/** A tool, made by {@link tool}, with the types of its arguments and its result for callers. */
export interface Tool<Name extends string = string, Input = unknown, Output = unknown>
  extends TypeCarrier<ToolTypes<Input, Output>> {
  readonly name: Name
  readonly definition: AnyToolDefinition
}

/**
 * A tool as you define it. `Input` and `Output` are inferred from the schemas. Members of the tool's entry in the list,
 * such as `annotations`, have the type that they have there.
 */
export interface ToolDefinition<
  Input extends AnySchema | RawShape | undefined,
  Output extends AnySchema | RawShape | undefined,
> extends BaseDefinition,
    Omit<ListedTool, 'name' | 'title' | 'icons' | '_meta' | 'description' | 'inputSchema' | 'outputSchema'> {
  /** Tells the model what the tool is for. */
  readonly description: string
  /** Schema of the arguments, an object. Without it, the tool takes no arguments. */
  readonly input?: OneSchema<Input>
  /** @deprecated The arguments' schema is called `input` here. */
  readonly inputSchema?: 'it is called input'
  /**
   * The most array items and object members that the arguments of a call may have. Default: 10,000. A call with more is
   * rejected before the schema checks it. For schemas that are not zod's, that transform, or that run code of the
   * author, the limit is lower in effect: arguments that could have more than 10,000 faults are rejected unchecked.
   */
  readonly maxArgumentElements?: number | undefined
  /** Schema of the structured result. With it, `run` returns a value that the schema accepts. */
  readonly output?: OneSchema<Output>
  /** @deprecated The result's schema is called `output` here. */
  readonly outputSchema?: 'it is called output'
  /**
   * Whether a call runs as a task, at a server with tasks. Default: `never`. A function is called once for each
   * request, with the arguments. A tool that asks the user before it becomes a task uses `ctx.continueAsTask` instead.
   * Calls of clients of older revisions never become tasks.
   */
  readonly task?: TaskChoice | ((args: SchemaOutput<Input>, ctx: RequestContext) => TaskChoice) | undefined
  /**
   * True promises that repeating a call with the same idempotency key repeats no effect, and a client then sends a call
   * again automatically after its connection was lost. To keep the promise, make every effect in a `ctx.step`, and send
   * the step's `idempotencyKey` to the called system. Default: true for a tool with `task: 'required'`, and false for
   * others.
   */
  readonly keyedEffects?: boolean | undefined
  /**
   * Runs the tool. A {@link ToolError} that it throws, or an `InputDeclined` that it does not catch, becomes a result
   * with `isError`, whose text is the error's message. An `McpError` becomes that protocol error. Any other error is
   * logged, and the result with `isError` says only that the tool failed.
   */
  run(args: SchemaOutput<Input>, ctx: Context): Awaitable<ToolReturn<ToolValue<Output>>>
}

/** A {@link ToolDefinition} with any types of arguments and results. */
export interface AnyToolDefinition extends ToolDefinition<AnySchema | undefined, AnySchema | undefined> {}

/**
 * The return type of `run`: the value, a whole result, or `inputRequired`. `FullToolResult` stands outside of the
 * conditional type {@link ToolValue}, because the compiler ignores a conditional type while it infers `Output`; from
 * `FullToolResult` it learns the types of literals, such as `type: 'text'`.
 */
export type ToolReturn<Value> = FullToolResult | InputRequiredReturn | Value

/** The plain return value of `run`: one that the output schema accepts, and without a schema text or content. */
export type ToolValue<Output> = Output extends undefined ? string | ToolContent : SchemaInput<Output>

/** A tool's result, in parts. */
export interface ToolContent {
  /** For the model. */
  readonly content: readonly ContentBlock[]
  /** JSON for programs. The type `object` admits interfaces, which have no index signature. */
  readonly structuredContent?: JsonValue | object | undefined
  /** True if the tool failed. The content then says why. */
  readonly isError?: boolean | undefined
  readonly _meta?: JsonObject | undefined
}

const fullResultBrand = Symbol('full tool result')

/**
 * A whole result, made by {@link toolResult}. Without its brand, an object would count as the structured content of a
 * result.
 */
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
  Input extends AnySchema | RawShape | undefined = undefined,
  Output extends AnySchema | RawShape | undefined = undefined,
>(name: Name, definition: ToolDefinition<Input, Output>): Tool<Name, CallerInput<Input>, CallerOutput<Output>>
export function tool(name: string, definition: AnyToolDefinition): Tool {
  return { name, definition }
}

/**
 * A whole result, for a tool with `output` that sets its content or `_meta` itself, or fails: `toolResult({ isError:
 * true, content: [{ type: 'text', text: 'Sold out' }] })`.
 */
export function toolResult(result: Partial<ToolContent>): FullToolResult {
  return { ...result, [fullResultBrand]: true }
}

/** Begins the result of a call whose arguments the input schema rejects. */
export const invalidArgumentsText = 'Invalid arguments for tool'

/** True for a value of {@link toolResult}. */
export function isFullToolResult(value: unknown): value is FullToolResult {
  return typeof value === 'object' && value !== null && fullResultBrand in value
}

/**
 * Throw it to tell the model something, such as why arguments are invalid. The call ends with a result with `isError`,
 * whose text is the message (server/tools, error handling), and nothing is logged. The message of an `McpError` and of
 * an `InputDeclined` is sent too; the texts of all other errors never are.
 *
 * @example
 * if (divisor === 0) throw new ToolError('The divisor must not be 0')
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** True for a {@link ToolError}, from this copy of the package or another. */
export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && error.name === 'ToolError'
}
