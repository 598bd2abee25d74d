import { createServer as createHttpServer, type RequestListener, Server as HttpServer } from 'node:http'
import { setupAuthServer } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { findFreePort } from '@tooling/real-servers/free-port'
import { protect, type ProtectOptions } from '@x/auth/server'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { vi } from 'vitest'
import { listenLocally } from './listen-locally.ts'
import { browse } from './oauth-example.ts'

export const callback = 'http://127.0.0.1:33421/callback'

/** An MCP server that requires a login, and a person with an account at its authorization server. */
export interface LoginService {
  readonly url: string
  /** Follows a login page up to the redirect URI. Rejects if the page goes nowhere. */
  visit(page: URL): Promise<URL>
  /** Has the authorization server forget its clients. The access tokens end, and the MCP server starts again. */
  forgetClients(): Promise<void>
  close(): Promise<void>
}

export const createItems = (): ReturnType<typeof createServer> =>
  createServer({
    name: 'items',
    version: '1.0.0',
    state: false,
    tools: [tool('greet', { description: 'Greets the caller', run: () => 'hello' })],
  })

/** Listens on a free port of this machine. */
export async function listen(): Promise<{ origin: string; http: HttpServer; close: () => Promise<void> }> {
  const http = createHttpServer()
  return { origin: `http://127.0.0.1:${await listenLocally(http)}`, http, close: () => closeServer(http) }
}

async function closeServer(http: HttpServer): Promise<void> {
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
}

function protectItems(http: HttpServer, options: ProtectOptions): void {
  const handler: RequestListener = nodeHandler(createItems(), { auth: protect(options) })
  http.removeAllListeners('request').on('request', handler)
}

/** oidc-provider: JWTs, rotating refresh tokens, revocation, and a restart that forgets everything. */
export async function serveOidcProvider(): Promise<LoginService> {
  const { origin, http, close } = await listen()
  const url = `${origin}/mcp`
  const start = (port?: number): Promise<AuthServer> =>
    startAuthServer({ resources: [{ resource: url, scopes: ['items:read'] }], ...(port !== undefined && { port }) })
  let authServer = await start()
  const { issuer } = authServer
  const options = { resource: url, issuers: [issuer], scopes: ['items:read'] }
  protectItems(http, options)
  return {
    url,
    visit: (page) => authServer.browse(page),
    forgetClients: async () => {
      await authServer.close()
      authServer = await start(Number(new URL(issuer).port))
      protectItems(http, options)
    },
    close: async () => {
      await close()
      await authServer.close()
    },
  }
}

/** The demo of the official SDK: opaque tokens without refresh, introspection, and a restart that forgets everything. */
export async function serveOfficialDemo(): Promise<LoginService> {
  const { origin, http, close } = await listen()
  const url = `${origin}/mcp`
  const authServerUrl = new URL(`http://127.0.0.1:${await findFreePort()}`)
  const endpoint = new URL('/introspect', authServerUrl).href
  const introspection = { endpoint, client: { id: 'items', secret: 'not checked by the demo' } }
  const issuers = [{ issuer: authServerUrl.href, introspection }]
  const options = { resource: url, issuers, scopes: ['mcp:tools'] }
  protectItems(http, options)
  const start = (): Promise<HttpServer> => startOfficialDemo(authServerUrl, new URL(url))
  let demo = await start()
  return {
    url,
    visit: (page) => browse(page, callback),
    forgetClients: async () => {
      await closeServer(demo)
      demo = await start()
      protectItems(http, options)
    },
    close: async () => {
      await close()
      await closeServer(demo)
    },
  }
}

async function startOfficialDemo(authServerUrl: URL, mcpServerUrl: URL): Promise<HttpServer> {
  // The demo says on the console where it listens, and does not return its server.
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const listening = vi.spyOn(HttpServer.prototype, 'listen')
  setupAuthServer({ authServerUrl, mcpServerUrl, strictResource: true })
  const [server] = listening.mock.contexts
  listening.mockRestore()
  if (!(server instanceof HttpServer)) throw new Error('The demo did not listen')
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  return server
}
