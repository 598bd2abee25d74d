import type { ToolTypes, TypeCarrier } from '@x/exchange'
import type { ContentBlock, JsonObject, JsonValue, ToolAnnotations } from '@x/schema'
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

/** A tool, as {@link tool} makes it, with the types of its arguments and its result for callers. */
export interface Tool<Name extends string = string, Input = unknown, Output = unknown>
  extends TypeCarrier<ToolTypes<Input, Output>> {
  readonly name: Name
  readonly definition: AnyToolDefinition
}

/** The definition of a tool. `Input` and `Output` are inferred from the schemas. */
export interface ToolDefinition<
  Input extends AnySchema | RawShape | undefined,
  Output extends AnySchema | RawShape | undefined,
> extends BaseDefinition {
  /** The purpose of the tool, for the model. */
  readonly description: string
  /** The schema of the arguments, an object. A tool without this member takes no arguments. */
  readonly input?: OneSchema<Input>
  /** @deprecated The arguments' schema is called `input` here. */
  readonly inputSchema?: 'it is called input'
  /**
   * The maximum number of array items and object members in the arguments of a call. Default: 10,000. A call with more
   * is rejected before the schema checks it. Some schemas need a lower limit: those that are not zod's, that transform,
   * or that run code of the author. For them, arguments that could have more than 10,000 faults are rejected unchecked.
   */
  readonly maxArgumentElements?: number | undefined
  /** The schema of the structured result. With this member, `run` returns a value that the schema accepts. */
  readonly output?: OneSchema<Output>
  /** @deprecated The result's schema is called `output` here. */
  readonly outputSchema?: 'it is called output'
  /** Hints about the tool's behaviour. */
  readonly annotations?: ToolAnnotations | undefined
  /**
   * Decides whether a call runs as a task, at a server with tasks. Default: `never`. A function is called once for each
   * request, with the arguments. A tool that asks the user before it becomes a task uses `ctx.continueAsTask` instead.
   * Calls of clients of older revisions never become tasks.
   */
  readonly task?: TaskChoice | ((args: SchemaOutput<Input>, ctx: RequestContext) => TaskChoice) | undefined
  /**
   * True declares that repeating a call with the same idempotency key repeats no effect. A client then sends a call
   * again automatically after its connection was lost. For this, make every effect in a `ctx.step`, and send the
   * `idempotencyKey` of the step to the called system. Default: true for a tool with `task: 'required'`, and false for
   * others.
   */
  readonly keyedEffects?: boolean | undefined
  /**
   * Runs the tool. A {@link ToolError} that it throws, or an `InputDeclined` that it does not catch, becomes a result
   * with `isError`, whose text is the error's message. An `McpError` becomes that protocol error. Any other error is
   * logged, and becomes a result with `isError` whose text is only that the tool failed.
   */
  run(args: SchemaOutput<Input>, ctx: Context): Awaitable<ToolReturn<ToolValue<Output>>>
}

/** A {@link ToolDefinition} with any types of arguments and results. */
export interface AnyToolDefinition extends ToolDefinition<AnySchema | undefined, AnySchema | undefined> {}

/**
 * The return type of `run`: the value, a whole result, or `inputRequired`. `FullToolResult` is outside of the
 * conditional type {@link ToolValue}, because the compiler ignores a conditional type while it infers `Output`. In
 * `FullToolResult` the compiler finds the types of literals, such as `type: 'text'`.
 */
export type ToolReturn<Value> = FullToolResult | InputRequiredReturn | Value

/** What `run` returns first of all: a value that the output schema accepts, and without a schema text or content. */
export type ToolValue<Output> = Output extends undefined ? string | ToolContent : SchemaInput<Output>

/** The parts of a tool's result. */
export interface ToolContent {
  /** The content for the model. */
  readonly content: readonly ContentBlock[]
  /** The structured content for programs: JSON. The type `object` admits interfaces, which have no index signature. */
  readonly structuredContent?: JsonValue | object | undefined
  /** True if the tool failed. The content then contains the reason. */
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
 * Creates a whole result, for a tool with `output` that sets its content or `_meta` itself, or fails: `toolResult({
 * isError: true, content: [{ type: 'text', text: 'Sold out' }] })`.
 */
export function toolResult(result: Partial<ToolContent>): FullToolResult {
  return { ...result, [fullResultBrand]: true }
}

/** Returns true for a value of {@link toolResult}. */
export function isFullToolResult(value: unknown): value is FullToolResult {
  return typeof value === 'object' && value !== null && fullResultBrand in value
}

/**
 * The error of a tool for the model to read, such as the reason why arguments are invalid. When `run` throws it, the
 * call ends with a result with `isError`, whose text is the message (server/tools, error handling). The error is not
 * logged. The message of an `McpError` and of an `InputDeclined` is sent too. The texts of all other errors are never
 * sent.
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
