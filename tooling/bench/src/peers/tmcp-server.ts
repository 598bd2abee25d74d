import { createServer } from 'node:http'
import { createRequestListener } from '@remix-run/node-fetch-server'
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { HttpTransport } from '@tmcp/transport-http'
import { McpServer } from 'tmcp'
import { tool } from 'tmcp/utils'
import * as z from 'zod'
import { serveMeasured } from './serve-measured.ts'

const server = new McpServer(
  { name: 'bench', version: '1.0.0', description: 'A server with one tool' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
)

const schema = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
server.tool({ name: 'echo', description: 'Repeats a text', schema }, ({ text, times }) => tool.text(text.repeat(times)))

const transport = new HttpTransport(server, { path: '/mcp' })
const listener = createRequestListener(
  async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }),
)
await serveMeasured(createServer(listener))
