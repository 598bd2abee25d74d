import type { AddressInfo } from 'node:net'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'

// The documentation of v1 creates a server and a transport per request for servers without sessions.
function createServer(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = { text: z.string(), times: z.number().int().min(1).max(10) }
  server.registerTool('echo', { description: 'Repeats a text', inputSchema }, ({ text, times }) => ({
    content: [{ type: 'text', text: text.repeat(times) }],
  }))
  return server
}

const app = createMcpExpressApp()
app.post('/mcp', async (request, response) => {
  const server = createServer()
  const transport = new StreamableHTTPServerTransport({})
  response.on('close', () => {
    void transport.close()
    void server.close()
  })
  await server.connect(transport)
  await transport.handleRequest(request, response, request.body)
})

const listener = app.listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an address of this type.
  const { port } = listener.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})
