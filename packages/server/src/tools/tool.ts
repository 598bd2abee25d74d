import type { ContentBlock, JsonObject, JsonValue, ToolAnnotations } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { Context, RequestContext } from '../request/context.ts'
import type { TaskChoice } from '../replay/task-choice.ts'
import type { Described } from '../described.ts'
import type { InputRequired } from '../replay/input-required.ts'
import type { AcceptedBy, AnySchema, ParsedBy } from '../json-schema/schemas.ts'

/** A tool, as {@link tool} makes it. */
export interface Tool {
  readonly name: string
  readonly definition: AnyToolDefinition
}

/** What a tool is and does; `Input` and `Output` are found from the schemas. */
export interface ToolDefinition<Input extends AnySchema | undefined, Output extends AnySchema | undefined>
  extends Described {
  /** Tells the model what the tool is for. */
  readonly description: string
  /** The arguments, an object. Without it the tool takes none. */
  readonly input?: Input
  /** The structured result. With it, `run` returns what the schema accepts. */
  readonly output?: Output
  /** Hints about the tool's behaviour. */
  readonly annotations?: ToolAnnotations | undefined
  /**
   * Whether a call of the tool is carried on as a task, by a server with tasks around it; `never` when absent. A function
   * decides by the arguments. A tool that asks first and becomes a task later uses `ctx.task` instead.
   */
  readonly task?: TaskChoice | ((args: ParsedBy<Input>, ctx: RequestContext) => TaskChoice) | undefined
  /**
   * Does the work. An error that it throws becomes a result with `isError`, whose text is the error's message; an
   * McpError is answered as that error of the protocol.
   */
  run(args: ParsedBy<Input>, ctx: Context): Awaitable<ToolReturn<Output>>
}

/** A {@link ToolDefinition} of which only the server knows what goes in and comes out. */
export interface AnyToolDefinition extends Described {
  readonly description: string
  readonly input?: AnySchema | undefined
  readonly output?: AnySchema | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly task?: TaskChoice | ((args: never, ctx: RequestContext) => TaskChoice) | undefined
  run(args: unknown, ctx: Context): Awaitable<unknown>
}

/** What `run` may return: text or content, or what the output schema accepts, or a whole result, or `inputRequired`. */
export type ToolReturn<Output> = Output extends undefined
  ? string | ToolContent | FullToolResult | InputRequired
  : AcceptedBy<Output> | FullToolResult | InputRequired

/** The parts of a tool's result. */
export interface ToolContent {
  /** What the model reads. */
  readonly content: readonly ContentBlock[]
  /** What programs read. */
  readonly structuredContent?: JsonValue | undefined
  /** The tool failed, and the content says why. */
  readonly isError?: boolean | undefined
  readonly _meta?: JsonObject | undefined
}

const full = Symbol('full tool result')

/** A result that says of itself that it is whole, and not the structured content of one. */
export interface FullToolResult extends Partial<ToolContent> {
  readonly [full]: true
}

/**
 * Defines a tool. Nothing is checked before `createServer`.
 *
 * @example
 * const greet = tool('greet', {
 *   description: 'Greets somebody',
 *   input: z.object({ name: z.string() }),
 *   run: ({ name }) => `Hello, ${name}!`,
 * })
 */
export function tool<Input extends AnySchema | undefined = undefined, Output extends AnySchema | undefined = undefined>(
  name: string,
  definition: ToolDefinition<Input, Output>,
): Tool {
  return { name, definition }
}

/**
 * A whole result, for a tool with `output` that wants to write its content itself, add `_meta` or fail:
 * `toolResult({ isError: true, content: [{ type: 'text', text: 'Sold out' }] })`.
 */
export function toolResult(result: Partial<ToolContent>): FullToolResult {
  return { ...result, [full]: true }
}

/** Whether a value came from {@link toolResult}. */
export function isFullToolResult(value: unknown): value is FullToolResult {
  return typeof value === 'object' && value !== null && full in value
}
