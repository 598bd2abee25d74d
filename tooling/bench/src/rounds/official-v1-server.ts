import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'
import { answerQuestions } from '../http/answer-questions.ts'

const transports = new Map<string, StreamableHTTPServerTransport>()

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

// As its documentation shows for sessions: each has a server and a transport, in a map.
async function openTransport(): Promise<StreamableHTTPServerTransport> {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = { id: z.number().int() }
  server.registerTool('resolve_bug', { description: 'Resolves a bug', inputSchema }, async ({ id }, extra) => {
    const options = { relatedRequestId: extra.requestId }
    const { content: resolved } = await server.server.elicitInput(how, options)
    const { content: bug } = await server.server.elicitInput(which, options)
    return {
      content: [{ type: 'text', text: `#${id} is ${String(resolved?.['resolution'])} of #${String(bug?.['id'])}` }],
    }
  })
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void transports.set(id, transport),
  })
  await server.connect(transport)
  return transport
}

answerQuestions(
  createServer((request, response) => {
    const known = transports.get(String(request.headers['mcp-session-id']))
    void Promise.resolve(known ?? openTransport()).then((transport) => transport.handleRequest(request, response))
  }),
)
