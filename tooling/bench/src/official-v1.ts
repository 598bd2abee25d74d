import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'
import { type Programs, serveMeasured } from './processes.ts'
import { openShop, registerShopTools } from './shop.ts'

/** Servers of version 1 of the official SDK: with sessions, and as the public benchmark of `workload` uses it. */
export const programs: Programs = { flow: serveFlow, shop: serveShop }

const how = {
  message: 'How was it resolved?',
  requestedSchema: {
    type: 'object' as const,
    properties: { resolution: { type: 'string' as const, enum: ['Fixed', 'Duplicate'] } },
    required: ['resolution'],
  },
}
const which = {
  message: 'Which bug does it repeat?',
  requestedSchema: { type: 'object' as const, properties: { id: { type: 'integer' as const } }, required: ['id'] },
}

/** As its documentation shows for sessions: each has a server and a transport, in a map. */
async function serveFlow(): Promise<void> {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const openTransport = async (): Promise<StreamableHTTPServerTransport> => {
    const server = new McpServer({ name: 'bench', version: '1.0.0' })
    const inputSchema = { id: z.number().int() }
    server.registerTool('resolve_bug', { description: 'Resolves a bug', inputSchema }, async ({ id }, extra) => {
      const options = { relatedRequestId: extra.requestId }
      const { content: resolved } = await server.server.elicitInput(how, options)
      const { content: bug } = await server.server.elicitInput(which, options)
      const text = `#${id} is ${String(resolved?.['resolution'])} of #${String(bug?.['id'])}`
      return { content: [{ type: 'text', text }] }
    })
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
    })
    await server.connect(transport)
    return transport
  }
  const server = createServer((request, response) => {
    const known = transports.get(String(request.headers['mcp-session-id']))
    void Promise.resolve(known ?? openTransport()).then((transport) => transport.handleRequest(request, response))
  })
  await serveMeasured(server)
}

/** The public benchmark and the documentation create a server per request for servers without sessions. */
async function serveShop(): Promise<void> {
  const { createMcpExpressApp } = await import('@modelcontextprotocol/sdk/server/express.js')
  const shop = await openShop()
  const app = createMcpExpressApp()
  app.post('/mcp', async (request, response) => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' })
    registerShopTools(server, shop)
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
