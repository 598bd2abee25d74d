import type { HeaderParam, Implementation, JsonObject, RpcRequest } from '@x/schema'
import type { Call, Middleware } from '../call/exchange.ts'

/** What a search over tools must know of its server. */
export interface SearchedServer {
  readonly info: Implementation
  /**
   * A tool as `tools/list` shows it to a caller. Undefined for one that the caller may not use. Rejects with an
   * `McpError` for the caller if the tool cannot be looked up now.
   */
  readonly findTool: (
    name: string,
    request: RpcRequest,
    call: Call,
  ) => JsonObject | undefined | Promise<JsonObject | undefined>
  /** Arguments of a tool that headers repeat. Absent for a gateway: its connections to upstreams know them. */
  readonly headerParamsOf?: ((name: string) => readonly HeaderParam[] | undefined) | undefined
}

/**
 * Puts a search in place of a long list of tools. Made by `toolSearch` of `@x/server/tool-search` or
 * `@x/gateway/tool-search`.
 */
export interface ToolSearch {
  /** Names of its own tools, which no tool of the server can have. */
  readonly names: readonly string[]
  /** Names of the tools that stay listed. */
  readonly always: readonly string[]
  /** Makes the search of one server. */
  start(server: SearchedServer): ToolSearchLayers
}

/** A search has two places in a server. */
export interface ToolSearchLayers {
  /** Goes around everything else. */
  readonly outermost: Middleware
  /** Goes around the server itself. */
  readonly innermost: Middleware
}
