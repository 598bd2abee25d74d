import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'
import { serveRequests } from './peers/official-v1-requests.ts'
import { serveMeasured } from './peers/serve-measured.ts'
import type { Programs } from './processes.ts'
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

/** Creates a server whose tool asks twice. It may wait long, because nobody answers some calls. */
export function createFlow(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = { id: z.number().int() }
  server.registerTool('resolve_bug', { description: 'Resolves a bug', inputSchema }, async ({ id }, extra) => {
    const options = { timeout: 600_000, relatedRequestId: extra.requestId }
    const { content: resolved } = await server.server.elicitInput(how, options)
    const { content: bug } = await server.server.elicitInput(which, options)
    const text = `#${id} is ${String(resolved?.['resolution'])} of #${String(bug?.['id'])}`
    return { content: [{ type: 'text', text }] }
  })
  return server
}

/** The options of a transport of the official SDK with a session. */
interface SessionOptions {
  readonly sessionIdGenerator: () => string
  readonly onsessioninitialized: (id: string) => void
}

/** Gives each session a server and a transport in a map, as the documentation of the official SDK does. */
export function transportsOf<Transport>(
  open: (options: SessionOptions) => Promise<Transport>,
): (sessionId: unknown) => Promise<Transport> {
  const transports = new Map<unknown, Promise<Transport>>()
  return (sessionId) => {
    const onsessioninitialized = (id: string): void => void transports.set(id, opened)
    const opened = transports.get(sessionId) ?? open({ sessionIdGenerator: randomUUID, onsessioninitialized })
    return opened
  }
}

/** Connects a server to a transport, and returns the transport. */
export async function connect<Transport>(
  server: { connect(transport: NoInfer<Transport>): Promise<void> },
  transport: Transport,
): Promise<Transport> {
  await server.connect(transport)
  return transport
}

async function serveFlow(): Promise<void> {
  const find = transportsOf((options) => connect(createFlow(), new StreamableHTTPServerTransport(options)))
  const server = createServer((request, response) => {
    void find(request.headers['mcp-session-id']).then((transport) => transport.handleRequest(request, response))
  })
  await serveMeasured(server)
}

async function serveShop(): Promise<void> {
  const shop = await openShop()
  await serveRequests(() => registerShopTools(new McpServer({ name: 'shop', version: '1.0.0' }), shop))
}
