import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequestListener } from '@remix-run/node-fetch-server'
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { HttpTransport } from '@tmcp/transport-http'
import { McpServer } from 'tmcp'
import { tool } from 'tmcp/utils'
import * as z from 'zod'

const server = new McpServer(
  { name: 'bench', version: '1.0.0', description: 'A server with one tool' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
)

const schema = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
server.tool({ name: 'echo', description: 'Repeats a text', schema }, ({ text, times }) => tool.text(text.repeat(times)))

const transport = new HttpTransport(server, { path: '/mcp' })
const listener = createServer(
  createRequestListener(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })),
)
listener.listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an address of this type.
  const { port } = listener.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})
