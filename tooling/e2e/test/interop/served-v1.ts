import { randomUUID } from 'node:crypto'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { type CallToolResult, isInitializeRequest } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'

const hotels: Record<string, string[]> = { Oslo: ['Amerikalinjen', 'The Thief'], Bergen: ['Opus'] }

/** Creates the server of one session. */
function getServer(): McpServer {
  const server = new McpServer({ name: 'travel', version: '1.0.0' }, { capabilities: { logging: {} } })
  server.registerTool('book', { description: 'Books a trip', inputSchema: { city: z.string() } }, async ({ city }) => {
    const requestedSchema = { type: 'object' as const, properties: { nights: { type: 'integer' as const } } }
    const answer = await server.server.elicitInput({ message: 'How many nights?', requestedSchema })
    if (answer.action !== 'accept') return { isError: true, content: [{ type: 'text', text: 'Not booked' }] }
    return { content: [{ type: 'text', text: `${String(answer.content?.['nights'])} nights in ${city}` }] }
  })
  server.registerTool(
    'search',
    { title: 'Search', description: 'Searches hotels', inputSchema: { city: z.string() } },
    async ({ city }, extra): Promise<CallToolResult> => {
      if (!Object.hasOwn(hotels, city)) throw new Error(`No hotels in ${city}`)
      const progressToken = extra._meta?.progressToken
      if (progressToken !== undefined) {
        const params = { progressToken, progress: 1, total: 2 }
        await extra.sendNotification({ method: 'notifications/progress', params })
      }
      await server.sendLoggingMessage({ level: 'info', data: `Searches ${city}` }, extra.sessionId)
      return { content: [{ type: 'text', text: (hotels[city] ?? []).join(', ') }] }
    },
  )
  server.registerPrompt('plan', { description: 'Plans a trip', argsSchema: { city: z.string() } }, ({ city }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Plan a trip to ${city}` } }],
  }))
  server.registerResource('cities', 'travel://cities', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, text: Object.keys(hotels).join('\n') }],
  }))
  const template = new ResourceTemplate('travel://hotels/{city}', { list: undefined })
  server.registerResource('hotels', template, {}, (uri, { city }) => ({
    contents: [{ uri: uri.href, text: (hotels[String(city)] ?? []).join('\n') }],
  }))
  return server
}

const app = createMcpExpressApp()
const transports = new Map<string, StreamableHTTPServerTransport>()
app.all('/mcp', async (request, response) => {
  const known = transports.get(String(request.headers['mcp-session-id']))
  if (known !== undefined) return known.handleRequest(request, response, request.body)
  if (!isInitializeRequest(request.body)) {
    response.status(404).json({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null })
    return
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void transports.set(id, transport),
  })
  transport.onclose = () => transports.delete(transport.sessionId ?? '')
  await getServer().connect(transport)
  await transport.handleRequest(request, response, request.body)
})
const port = Number(process.env['PORT'] ?? 3000)
app.listen(port, () => console.log('Ready'))
