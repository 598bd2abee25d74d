import { createServer, type Server } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

/** The handler of the official SDK, as its documentation creates it. */
export type OfficialHandler = ReturnType<typeof createMcpHandler>

/** Creates a server of the official SDK with the echo tool of `echo-tool.ts`. */
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
 * Serves the handler on `node:http`, as its documentation describes. Our handler checks Host and Origin, so the checks
 * of the official SDK are enabled as well.
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
