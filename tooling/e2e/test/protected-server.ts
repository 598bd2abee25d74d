import { createServer as createHttpServer } from 'node:http'
import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { protect, requireScopes } from '@x/auth/server'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { listenLocally } from './listen-locally.ts'

/** A server with the tool `who-am-i`, and the process of its authorization server. */
export interface ProtectedServer extends AsyncDisposable {
  readonly url: string
  readonly authServer: AuthServer
}

/** Starts a server that requires a token, and for the tool `update` one with the scope `items:write`. */
export async function serveProtected(hostname = '127.0.0.1'): Promise<ProtectedServer> {
  const http = createHttpServer()
  const url = `http://${hostname}:${await listenLocally(http)}/mcp`
  const authServer = await startAuthServer({ resources: [{ resource: url, scopes: ['items:read', 'items:write'] }] })
  const whoAmI = tool('who-am-i', {
    description: 'Returns the user and the client of the user',
    run: (_, { principal }) => `${principal?.subject} by ${principal?.client}`,
  })
  const update = tool('update', { description: 'Changes an item', run: () => 'updated' })
  const extensions = [requireScopes({ 'tools/call': { update: ['items:write'] } })]
  const server = createServer({ name: 'items', version: '1.0.0', state: false, tools: [whoAmI, update], extensions })
  const auth = protect({ resource: url, issuers: [authServer.issuer], scopes: ['items:read'] })
  http.on('request', nodeHandler(server, { auth }))
  return {
    url,
    authServer,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections()
      http.close()
      await authServer.close()
    },
  }
}
