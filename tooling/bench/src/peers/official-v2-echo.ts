import { createServer } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { type createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { serveMeasured } from './serve-measured.ts'

/** Creates the server with the echo tool. */
export function createEcho(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
  server.registerTool('echo', { description: 'Repeats a text', inputSchema }, ({ text, times }) => ({
    content: [{ type: 'text', text: text.repeat(times) }],
  }))
  return server
}

/** Serves a handler. Ours checks Host and Origin, so the checks of the official SDK are enabled, as it documents. */
export async function serveOfficial(handler: ReturnType<typeof createMcpHandler>): Promise<void> {
  const handle = toNodeHandler(handler)
  const validateHost = localhostHostValidation()
  const validateOrigin = localhostOriginValidation()
  const server = createServer((request, response) => {
    if (!validateHost(request, response) || !validateOrigin(request, response)) return
    // @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
    void handle(request, response)
  })
  await serveMeasured(server)
}
