import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { McpServer as OfficialServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { connectAny } from '@x/legacy/client'
import * as z from 'zod'
import { listenLocally } from './listen-locally.ts'
import { type Peer, peerOf } from './older-server-peers.ts'

/** Starts the official v1 server with one transport per session or one per request. */
export async function official(hasSessions: boolean): Promise<Peer> {
  const { url, close } = await serveOfficial(hasSessions, officialServer)
  return peerOf(connectAny(url), close)
}

/** Serves official v1 servers over HTTP. Each transport has its own server. */
export async function serveOfficial(
  hasSessions: boolean,
  createServer: () => OfficialServer,
  port = 0,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const http = createHttpServer(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known !== undefined) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: hasSessions ? randomUUID : undefined,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    } as ConstructorParameters<typeof StreamableHTTPServerTransport>[0])
    const server = createServer()
    // The types of the official SDK conflict with exactOptionalPropertyTypes.
    await server.connect(transport as Transport)
    await transport.handleRequest(request, response)
  })
  return {
    url: `http://127.0.0.1:${await listenLocally(http, port)}/mcp`,
    async close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

function officialServer(): OfficialServer {
  const server = new OfficialServer({ name: 'official', version: '1.0.0' })
  server.registerTool('ask', { description: 'Asks' }, async () => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
    // Like most servers, it omits the id of the call, so the SDK sends the question on the GET stream.
    const answer = await server.server.elicitInput({ message: 'Name?', requestedSchema })
    return { content: [{ type: 'text', text: JSON.stringify(answer.content) }] }
  })
  server.registerTool('add', { description: 'Adds', inputSchema: { a: z.number() } }, ({ a }) => ({
    content: [{ type: 'text', text: `${a + 1}` }],
  }))
  return server
}
