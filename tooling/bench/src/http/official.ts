import { createServer, type Server } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

/** The handler of the official SDK, as its documentation makes one. */
export type OfficialHandler = ReturnType<typeof createMcpHandler>

/** The official SDK's server with the echo tool of `echo-tool.ts`. */
export function officialEcho(): OfficialHandler {
  return createMcpHandler(() => {
    const server = new McpServer({ name: 'bench', version: '1.0.0' })
    const inputSchema = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
    server.registerTool('echo', { description: 'Repeats a text', inputSchema }, ({ text, times }) => ({
      content: [{ type: 'text', text: text.repeat(times) }],
    }))
    return server
  })
}

/**
 * Serves it on node:http, as its documentation says. The checks of Host and Origin are part of what our handler does,
 * so they are switched on here.
 */
export function serveOfficial(handler: OfficialHandler): Server {
  const handle = toNodeHandler(handler)
  const validateHost = localhostHostValidation()
  const validateOrigin = localhostOriginValidation()
  return createServer((request, response) => {
    if (!validateHost(request, response) || !validateOrigin(request, response)) return
    // @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
    void handle(request, response)
  })
}
