import { randomUUID } from 'node:crypto'
import { McpServer as OfficialServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport as OfficialTransportV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  createMcpHandler,
  inputRequired,
  McpServer as OfficialServerV2,
  WebStandardStreamableHTTPServerTransport as OfficialTransportV2,
} from '@modelcontextprotocol/server'
import { legacy } from '@x/legacy'
import { createServer, form, type McpServer, sealedState, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import * as z from 'zod'

/** Serves one request. The header `x-user` names the user. */
export type FetchHandler = (request: Request) => Promise<Response>

/** A server whose tool `ask` asks its user one thing, and how its clients call it. */
export interface WaitingServer {
  readonly revision: '2026-07-28' | '2025-11-25'
  readonly start: () => FetchHandler
  /** The largest number of sessions in a process, if it has a limit. */
  readonly maxSessions?: number
}

const message = 'Send the order?'
const answer = z.object({ sure: z.boolean() })
const description = 'Asks before it sends an order'

function ourServer(options: { readonly isOlder: boolean }): McpServer {
  const schema = form(answer)
  const ask = tool('ask', {
    description,
    input: z.object({ order: z.number().int() }),
    async run({ order }, ctx) {
      const { sure } = await ctx.elicit('sure', { message, schema })
      return `${order}: ${sure}`
    },
  })
  return createServer({
    name: 'waiting',
    version: '1.0.0',
    tools: [ask],
    state: sealedState({ keys: [randomKey()] }),
    extensions: options.isOlder ? [legacy()] : [],
  })
}

function startOurs(isOlder: boolean): FetchHandler {
  return httpHandler(ourServer({ isOlder }), { auth: (request) => ({ subject: request.header('x-user') ?? '' }) })
}

/** Creates a handler that gives each session a server and a transport, as the documentation of the official SDK does. */
function serveSessions(open: (keep: (id: string, transport: Transport) => void) => Promise<Transport>): FetchHandler {
  const transports = new Map<string, Transport>()
  const keep = (id: string, transport: Transport): void => void transports.set(id, transport)
  return async (request) => {
    const known = transports.get(request.headers.get('mcp-session-id') ?? '')
    return (known ?? (await open(keep))).handleRequest(request)
  }
}

interface Transport {
  handleRequest(request: Request): Promise<Response>
}

const requestedSchema = {
  type: 'object' as const,
  properties: { sure: { type: 'boolean' as const } },
  required: ['sure'],
}

const startV1 = (): FetchHandler =>
  serveSessions(async (keep) => {
    const server = new OfficialServerV1({ name: 'waiting', version: '1.0.0' })
    server.registerTool('ask', { description, inputSchema: { order: z.number().int() } }, async ({ order }, extra) => {
      const options = { timeout: 600_000, relatedRequestId: extra.requestId }
      const { content } = await server.server.elicitInput({ message, requestedSchema }, options)
      return { content: [{ type: 'text', text: `${order}: ${String(content?.['sure'])}` }] }
    })
    const transport: OfficialTransportV1 = new OfficialTransportV1({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => keep(id, transport),
    })
    await server.connect(transport)
    return transport
  })

function officialServerV2(): OfficialServerV2 {
  const server = new OfficialServerV2({ name: 'waiting', version: '1.0.0' })
  const inputSchema = z.object({ order: z.number().int() })
  server.registerTool('ask', { description, inputSchema }, () =>
    inputRequired({ inputRequests: { sure: inputRequired.elicit({ message, requestedSchema: answer }) } }),
  )
  return server
}

const startOlderV2 = (): FetchHandler =>
  serveSessions(async (keep) => {
    const transport: OfficialTransportV2 = new OfficialTransportV2({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => keep(id, transport),
    })
    await officialServerV2().connect(transport)
    return transport
  })

const startV2 = (): FetchHandler => {
  const handler = createMcpHandler(officialServerV2)
  return (request) => handler.fetch(request)
}

/** The compared servers, by the names in the report. */
export const waitingServers: ReadonlyMap<string, WaitingServer> = new Map<string, WaitingServer>([
  ['these packages', { revision: '2026-07-28', start: () => startOurs(false) }],
  ['official SDK v2', { revision: '2026-07-28', start: startV2 }],
  ['these packages, with legacy()', { revision: '2025-11-25', start: () => startOurs(true), maxSessions: 10_000 }],
  ['official SDK v2, with sessions', { revision: '2025-11-25', start: startOlderV2 }],
  ['official SDK v1', { revision: '2025-11-25', start: startV1 }],
])
