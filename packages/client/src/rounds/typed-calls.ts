import type { CallToolResult, GetPromptResult, JsonObject } from '@x/schema'
import type { CallOptions } from '../request/call-options.ts'

/**
 * A tool's result with the type that the server declares, unless the tool failed (`isError`). It is checked against the
 * schema only if the client has the option `outputSchemaCompiler`.
 */
export type TypedToolResult<Output> = Omit<CallToolResult, 'structuredContent' | 'isError'> &
  (
    | { readonly isError?: false | undefined; readonly structuredContent: Output }
    | { readonly isError: true; readonly structuredContent?: undefined }
  )

/** Parameters of a typed call. If all arguments are optional, you can omit them. */
export type CallParameters<Input> = Input extends undefined
  ? [args?: Readonly<Record<string, never>>, options?: CallOptions]
  : object extends Input
    ? [args?: Input, options?: CallOptions]
    : JsonObject extends Input
      ? [args?: Input, options?: CallOptions]
      : [args: Input, options?: CallOptions]

/**
 * Names for which `client.tools` has no function, because JavaScript may read these members of any object. Use
 * `callTool` for them.
 */
export type UncallableName = 'then' | 'toJSON' | keyof typeof Object.prototype

/**
 * A function per tool. Only the types of tools that a program calls are resolved. `Types` has those of the whole
 * server, so that an editor shows the name of its interface in place of a list of tools.
 */
export type ToolFunctions<Types extends { readonly tools: unknown }> = {
  readonly [Name in Exclude<keyof Types['tools'], UncallableName>]: Types['tools'][Name] extends {
    readonly input: infer Input
    readonly output: infer Output
  }
    ? (...parameters: CallParameters<Input>) => Promise<TypedToolResult<Output>>
    : never
}

/** A function per prompt. `Types` has the whole server's types. */
export type PromptFunctions<Types extends { readonly prompts: unknown }> = {
  readonly [Name in Exclude<keyof Types['prompts'], UncallableName>]: (
    ...parameters: CallParameters<Types['prompts'][Name]>
  ) => Promise<GetPromptResult>
}

/** Stands for a server whose types the client does not know. Declare them with `createClient<typeof server>(…)`. */
export interface UnknownServer extends Readonly<Record<never, never>> {}

/** A server's tools and prompts as functions. */
export interface TypedCalls<Types> {
  /**
   * A function per tool, with its types: `client.tools.greet({ name: 'Ada' })`, `client.tools['get-issue']({ id: 1 })`.
   * Each calls `callTool`, which itself does not check names and arguments at compile time.
   */
  readonly tools: Types extends { readonly tools: unknown } ? ToolFunctions<Types> : UnknownServer
  /** A function per prompt, with the types of its arguments. Each calls `getPrompt`. */
  readonly prompts: Types extends { readonly prompts: unknown } ? PromptFunctions<Types> : UnknownServer
}

const proxyTarget: UnknownServer = Object.freeze({})

type NamedCall<Args, Result> = (name: string, args?: Args, options?: CallOptions) => Promise<Result>

/** Makes an object that has a function for every name, each created on first use. */
export function createNamedCalls<Args, Result>(call: NamedCall<Args, Result>): UnknownServer {
  let callsByName: Map<string, (args?: Args, options?: CallOptions) => Promise<Result>> | undefined
  return new Proxy(proxyTarget, {
    get(target, name) {
      // `await` would call a member `then`, and `JSON.stringify` a member `toJSON`.
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
