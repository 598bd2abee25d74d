import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as z from 'zod'
import { serveRequests } from './official-v1-requests.ts'

await serveRequests(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = { text: z.string(), times: z.number().int().min(1).max(10) }
  server.registerTool('echo', { description: 'Repeats a text', inputSchema }, ({ text, times }) => ({
    content: [{ type: 'text', text: text.repeat(times) }],
  }))
  return server
})
