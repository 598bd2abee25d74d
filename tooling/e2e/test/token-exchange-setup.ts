import { createServer as createHttpServer, type Server as NodeServer } from 'node:http'
import { inspect } from 'node:util'
import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { tokenExchange } from '@x/auth/exchange'
import { protect } from '@x/auth/server'
import { gateway } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { createServer, tool } from '@x/server'
import { randomKey, sealedState } from '@x/state-codec'
import { nodeHandler, type NodeHandlerOptions } from '@x/transport-http/node'
import { listenLocally } from './listen-locally.ts'

/** The gateway's secret at the authorization server. */
export const secret = 'canary-secret-of-the-gateway'

/** Returns a client of an authorization server that obtains tokens without a user. */
const createAuthClient = (id: string, clientSecret: string, grantType = 'client_credentials') => ({
  client_id: id,
  client_secret: clientSecret,
  redirect_uris: [],
  response_types: [],
  grant_types: [grantType],
})
export const hostSecretOf = (user: string): string => `canary-secret-of-${user}`
export const createHostClient = (user: string): ReturnType<typeof createAuthClient> =>
  createAuthClient(user, hostSecretOf(user))
export const createExchangeClient = (id: string, clientSecret: string): ReturnType<typeof createAuthClient> =>
  createAuthClient(id, clientSecret, 'urn:ietf:params:oauth:grant-type:token-exchange')
export const gatewayClient = createExchangeClient('gateway', secret)

type Server = Parameters<typeof nodeHandler>[0]

/** A protected server on a socket, and the tokens that it received. */
export interface Endpoint {
  readonly url: string
  readonly tokens: Set<string>
  readonly http: NodeServer
  serve(server: Server, issuer: string): void
  close(): void
}

/** Opens the port before the server exists, because the authorization server must know the resource URL. */
export async function openEndpoint(): Promise<Endpoint> {
  const http = createHttpServer()
  const url = `http://127.0.0.1:${await listenLocally(http)}/mcp`
  const tokens = new Set<string>()
  const serve = (server: Server, issuer: string): void => {
    const protection = protect({ resource: url, issuers: [issuer], scopes: ['use'] })
    const authenticate: NodeHandlerOptions['auth'] = {
      ...protection,
      authenticate: (view, context) => {
        const header = view.header('authorization')
        if (header !== undefined) tokens.add(header.replace('Bearer ', ''))
        return protection.authenticate(view, context)
      },
    }
    http.on('request', nodeHandler(server, { auth: authenticate }))
  }
  const close = (): void => {
    http.closeAllConnections()
    http.close()
  }
  return { url, tokens, http, serve, close }
}

export const createUpstream = (name: string): Server =>
  createServer({
    name,
    version: '1.0.0',
    state: false,
    log: () => {},
    tools: [
      tool('whoami', { description: 'Names the caller', run: (_, ctx) => `${ctx.principal?.subject} at ${name}` }),
    ],
    extensions: [legacy()],
  })

/** A gateway, its two upstreams and their authorization server, on sockets. */
export interface TokenExchangeSetup extends AsyncDisposable {
  readonly issuer: AuthServer
  readonly entry: Endpoint
  readonly modern: Endpoint
  readonly older: Endpoint
  /** All log records of the gateway. */
  readonly logged: string[]
}

/** Starts a gateway with a modern and an older upstream, all protected by one authorization server. */
export async function createTokenExchangeSetup(gatewaySecret = secret): Promise<TokenExchangeSetup> {
  const [entry, modern, older] = [await openEndpoint(), await openEndpoint(), await openEndpoint()]
  const resources = [entry, modern, older].map(({ url }) => ({ resource: url, scopes: ['use'] }))
  const issuer = await startAuthServer({
    clients: [...['ada', 'grace'].map(createHostClient), gatewayClient],
    resources,
  })
  modern.serve(createUpstream('modern'), issuer.issuer)
  older.serve(createUpstream('older'), issuer.issuer)
  const logged: string[] = []
  const credential = () => tokenExchange({ issuer: issuer.issuer, client: { id: 'gateway', secret: gatewaySecret } })
  const server = gateway({
    name: 'company',
    version: '1.0.0',
    state: sealedState({ keys: [randomKey()] }),
    upstreams: {
      modern: { connect: ({ auth }) => connectAny(modern.url, { http: { auth } }), credential: credential() },
      older: {
        connect: ({ auth }) => connectAny(older.url, { revision: 'older', http: { auth } }),
        credential: credential(),
      },
    },
    log: (record) => void logged.push(inspect(record, { depth: 20, showHidden: true, maxStringLength: null })),
  })
  entry.serve(server, issuer.issuer)
  return {
    issuer,
    entry,
    modern,
    older,
    logged,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      for (const endpoint of [entry, modern, older]) endpoint.close()
      await issuer.close()
    },
  }
}
