import type { CallToolResult, GetPromptResult, JsonObject } from '@x/schema'
import type { CallOptions } from '../request/call-options.ts'

/**
 * The result of a tool with the type that the server declares. The result is checked against its schema only if the
 * client has the option `outputSchemaCompiler`.
 */
export interface TypedToolResult<Output> extends Omit<CallToolResult, 'structuredContent'> {
  /** Absent when the tool failed (`isError`). */
  readonly structuredContent?: Output
}

/** The parameters of a typed call. The arguments can be omitted if all of them are optional. */
export type CallParameters<Input> = Input extends undefined
  ? [args?: Readonly<Record<string, never>>, options?: CallOptions]
  : object extends Input
    ? [args?: Input, options?: CallOptions]
    : JsonObject extends Input
      ? [args?: Input, options?: CallOptions]
      : [args: Input, options?: CallOptions]

/**
 * Names for which `client.tools` has no function, because JavaScript may read these members of any object. Call tools
 * with such names through `callTool`.
 */
export type UncallableName = 'then' | 'toJSON' | keyof typeof Object.prototype

/**
 * A function per tool. The compiler resolves only the types of tools that a program calls. `Types` has the types of the
 * whole server, so that an editor shows the name of its interface in place of a list of tools.
 */
export type ToolFunctions<Types extends { readonly tools: unknown }> = {
  readonly [Name in Exclude<keyof Types['tools'], UncallableName>]: Types['tools'][Name] extends {
    readonly input: infer Input
    readonly output: infer Output
  }
    ? (...parameters: CallParameters<Input>) => Promise<TypedToolResult<Output>>
    : never
}

/** A function per prompt. `Types` has the types of the whole server. */
export type PromptFunctions<Types extends { readonly prompts: unknown }> = {
  readonly [Name in Exclude<keyof Types['prompts'], UncallableName>]: (
    ...parameters: CallParameters<Types['prompts'][Name]>
  ) => Promise<GetPromptResult>
}

/**
 * The functions of a server whose types are not known to the client. Use `createClient<typeof server>(…)` to declare
 * the types.
 */
export interface UnknownServer extends Readonly<Record<never, never>> {}

/** The tools and prompts of a server as functions. */
export interface TypedCalls<Types> {
  /**
   * A function per tool, with its types: `client.tools.greet({ name: 'Ada' })`, `client.tools['get-issue']({ id: 1 })`.
   * Each function calls `callTool`, which itself does not check names and arguments at compile time.
   */
  readonly tools: Types extends { readonly tools: unknown } ? ToolFunctions<Types> : UnknownServer
  /** A function per prompt, with the types of its arguments. It calls `getPrompt`. */
  readonly prompts: Types extends { readonly prompts: unknown } ? PromptFunctions<Types> : UnknownServer
}

/** The target of the proxies in {@link createNamedCalls}, an object without members. */
const proxyTarget: UnknownServer = Object.freeze({})

type NamedCall<Args, Result> = (name: string, args?: Args, options?: CallOptions) => Promise<Result>

/** Creates an object that has a function for every name. Each function is created on first use. */
export function createNamedCalls<Args, Result>(call: NamedCall<Args, Result>): UnknownServer {
  let callsByName: Map<string, (args?: Args, options?: CallOptions) => Promise<Result>> | undefined
  return new Proxy(proxyTarget, {
    get(target, name) {
      // `await` would call a member `then`, and `JSON.stringify` would call a member `toJSON`.
      if (typeof name === 'symbol' || name === 'then' || name === 'toJSON' || name in target) {
        return Reflect.get(target, name)
      }
      callsByName ??= new Map()
      const namedCall = callsByName.get(name) ?? ((args, options) => call(name, args, options))
      callsByName.set(name, namedCall)
      return namedCall
    },
  })
}
