import { createMcpHandler, McpServer as OfficialServer } from '@modelcontextprotocol/server'
import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import type { Middleware, Server } from '@x/exchange'
import { isJsonObject, type JsonValue, type RpcResponse } from '@x/schema'
import type { McpServer } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import * as z from 'zod'

// #region moving
type OfficialHandler = { fetch(request: Request): Promise<Response> }

/** Creates a server with the tools of `moved`, and with everything else of a server of the official SDK v2. */
export function serveBoth(official: OfficialHandler, moved: McpServer, movedNames: ReadonlySet<unknown>): Server {
  // The requests stay in this process: no port is opened, and nothing is sent to this address.
  const fetch = (url: string | URL | Request, init?: RequestInit) => official.fetch(new Request(url, init))
  const upstream = { connect: () => connectHttp('http://localhost/mcp', { fetch }) }
  const use = [serveMoved(moved, movedNames)]
  return proxy(upstream, { name: 'travel', version: '2.0.0', use, extensions: [legacy()] })
}

function serveMoved(moved: McpServer, names: ReadonlySet<unknown>): Middleware {
  return (next) => async (request, call) => {
    if (request.method === 'tools/call' && names.has(request.params?.['name'])) return moved.exchange(request, call)
    const response = await next(request, call)
    if (request.method !== 'tools/list' || !('result' in response)) return response
    const others = toolsOf(response).filter((tool) => isJsonObject(tool) && !names.has(tool['name']))
    // The moved tools are on the first page of the list.
    const isFirst = request.params?.['cursor'] === undefined
    const own = isFirst ? toolsOf(await moved.exchange(request, call)) : []
    return { ...response, result: { ...response.result, tools: [...own, ...others] } }
  }
}

function toolsOf(response: RpcResponse): readonly JsonValue[] {
  const tools = 'result' in response ? response.result['tools'] : undefined
  return Array.isArray(tools) ? tools : []
}
// #endregion moving

/** Creates a server of the official SDK v2 with a tool that stays and one that was moved. */
export const officialTravel = (): OfficialHandler =>
  createMcpHandler(() => {
    const server = new OfficialServer({ name: 'travel', version: '1.0.0' })
    const input = { inputSchema: z.object({ city: z.string() }) }
    server.registerTool('weather', { description: 'Returns the weather', ...input }, ({ city }) => ({
      content: [{ type: 'text', text: `It rains in ${city}` }],
    }))
    server.registerTool('book', { description: 'Books a trip, as before', ...input }, () => ({ content: [] }))
    return server
  })
