import { createServer } from 'node:http'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { answerQuestions } from '../http/answer-questions.ts'
import { registerShopTools } from './official-tools.ts'
import { openShop } from './shop.ts'

// The public benchmark and the documentation create a server per request for servers without sessions.
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
answerQuestions(createServer(app))
