import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { serveMeasured } from './serve-measured.ts'

const server = new McpServer({
  name: 'bench',
  version: '1.0.0',
  schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
})

server.tool('echo', {
  description: 'Repeats a text',
  inputSchema: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  handler: ({ text, times }) => ({ content: [{ type: 'text', text: text.repeat(times) }] }),
})

const handle = new StreamableHttpTransport().bind(server)
const app = new Hono()
app.all('/mcp', (context) => handle(context.req.raw))
await serveMeasured(createServer(getRequestListener(app.fetch)))
