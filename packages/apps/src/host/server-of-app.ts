import type { Call } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, McpError, type ReadResourceResult, type Tool } from '@x/schema'
import type { CallToolResult } from '@x/schema'
import { isToolFor } from '@x/schema/internal'

/** What a host of pages calls of a client. Every `Client` has it. */
export interface AppHostClient {
  listTools(options?: CallSignal): Promise<readonly Tool[]>
  callTool(name: string, args?: JsonObject, options?: CallSignal): Promise<CallToolResult>
  readResource(uri: string, options?: CallSignal): Promise<ReadResourceResult>
}

/** The options of a call. */
export type CallSignal = Partial<Pick<Call, 'signal'>>

/** A page's server, as the page may use it. */
export interface ServerOfApp {
  callTool(params: JsonObject, signal: AbortSignal): Promise<CallToolResult>
  readResource(params: JsonObject, signal: AbortSignal): Promise<ReadResourceResult>
}

/**
 * Lets a page use its own server: the tools that pages may call, and the resources (extensions/apps, visibility).
 * Behind a gateway the page has the names of its own upstream, and reaches no other.
 */
export function serverOfApp(client: AppHostClient, { tool, uri }: { tool: Tool; uri: string }): ServerOfApp {
  const upstream = upstreamOf(tool.name, uri)
  return {
    async callTool({ name, arguments: args }, signal) {
      const [prefix, requested] = [upstream === undefined ? '' : `${upstream}__`, String(name)]
      const fullName = requested.startsWith(prefix) ? requested : `${prefix}${requested}`
      const called = (await client.listTools({ signal })).find((each) => each.name === fullName)
      if (called === undefined || !isToolFor('app', called))
        throw new McpError(errorCodes.invalidParams, `A page of this server cannot call a tool ${JSON.stringify(name)}`)
      return await client.callTool(fullName, isJsonObject(args) ? args : {}, { signal })
    },
    async readResource({ uri: requested }, signal) {
      if (typeof requested !== 'string') throw new McpError(errorCodes.invalidParams, 'uri must be a text')
      return await client.readResource(upstream === undefined ? requested : uriAt(upstream, requested), { signal })
    },
  }
}

/**
 * A gateway of `@x/gateway` offers the tool `show` of the upstream `crm` as `crm__show`, with its page at `ui://crm/…`.
 */
function upstreamOf(toolName: string, uri: string): string | undefined {
  const upstream = /^ui:\/\/([^/]+)\//.exec(uri)?.[1]
  return upstream !== undefined && toolName.startsWith(`${upstream}__`) ? upstream : undefined
}

/** The page may have either URI: its own, or the one under which a gateway offers it. */
function uriAt(upstream: string, uri: string): string {
  if (uri.startsWith(`${upstream}+`) || uri.startsWith(`ui://${upstream}/`)) return uri
  return uri.startsWith('ui://') ? `ui://${upstream}/${uri.slice('ui://'.length)}` : `${upstream}+${uri}`
}
