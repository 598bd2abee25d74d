import { createServer } from 'node:http'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { serveMeasured } from './serve-measured.ts'

/** Creates a server and a transport per request, as the documentation of v1 does for servers without sessions. */
export async function serveRequests(create: () => McpServer): Promise<void> {
  const app = createMcpExpressApp()
  app.post('/mcp', async (request, response) => {
    const server = create()
    const transport = new StreamableHTTPServerTransport({})
    response.on('close', () => {
      void transport.close()
      void server.close()
    })
    await server.connect(transport)
    await transport.handleRequest(request, response, request.body)
  })
  await serveMeasured(createServer(app))
}
