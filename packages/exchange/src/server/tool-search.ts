import type { HeaderParam, Implementation, JsonObject, RpcRequest } from '@x/schema'
import type { Call, Middleware } from '../call/exchange.ts'

/** What a search over tools needs to know of its server. */
export interface SearchedServer {
  readonly info: Implementation
  /**
   * Returns a tool as `tools/list` shows it to a caller. Undefined for a tool that the caller may not use. Rejects with an
   * `McpError` for the caller if the tool cannot be looked up now.
   */
  readonly findTool: (
    name: string,
    request: RpcRequest,
    call: Call,
  ) => JsonObject | undefined | Promise<JsonObject | undefined>
  /**
   * Returns the arguments of a tool that headers repeat. Absent for a gateway: its connections to upstreams know them.
   */
  readonly headerParamsOf?: ((name: string) => readonly HeaderParam[] | undefined) | undefined
}

/** Replaces a long list of tools by a search. Made by `toolSearch` of `@x/server/tool-search` or `@x/gateway/tool-search`. */
export interface ToolSearch {
  /** The names of its own tools, which no tool of the server can have. */
  readonly names: readonly string[]
  /** The names of the tools that stay listed. */
  readonly always: readonly string[]
  /** Creates the search of one server. */
  start(server: SearchedServer): ToolSearchLayers
}

/** The two places of a search in a server. */
export interface ToolSearchLayers {
  /** The middleware around everything else. */
  readonly outermost: Middleware
  /** The middleware around the server itself. */
  readonly innermost: Middleware
}
