import { createMcpHandler } from '@modelcontextprotocol/server'
import { findFreePort } from '@tooling/real-servers/free-port'
import { protect } from '@x/auth/server'
import { createServer } from '@x/server'
import { type HttpServer, serveHttp, type ServeHttpOptions } from '@x/transport-http/node'
import { resolveTool, stateWith } from './asking.ts'
import { officialServers } from './interop/official-server.ts'
import { serveOfficialV2 } from './official-v2-server.ts'
import type { Peer } from './older-server-peers.ts'

/** Starts an instance of our server with a tool that asks. It sends a keep-alive comment every second. */
export function serveOurs(key: string, options: ServeHttpOptions = {}): Promise<HttpServer> {
  const work = { saved: [], runs: [] }
  const server = createServer({ name: 'items', version: '1.0.0', tools: [resolveTool(work)], state: stateWith(key) })
  return serveHttp(server, { keepAliveMs: 1000, ...options })
}

export interface Served extends AsyncDisposable {
  readonly url: string
}

/** Starts the server of the official SDK. */
export function serveOfficialTools(): Promise<Served> {
  return serveOfficialV2(createMcpHandler(officialServers(() => {})))
}

/** Starts a server of revision 2025-11-25. */
export async function serveOlder(start: () => Promise<Peer>): Promise<Served> {
  const peer = await start()
  return { url: peer.connection.url, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() }
}

/** Starts a server that requires a token of an issuer. The issuer is written as given. */
export async function serveProtectedBy(issuer: string, resourcePath = '/mcp'): Promise<HttpServer> {
  const port = await findFreePort()
  const server = createServer({ name: 'items', version: '1.0.0', state: false })
  const resource = `http://127.0.0.1:${port}${resourcePath}`
  return serveHttp(server, { port, auth: protect({ resource, issuers: [issuer] }) })
}
