import { createHash } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthServer, type AuthServerOptions, startAuthServer } from '@tooling/auth-server'
import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { randomKey, sealedState } from '@x/state-codec'
import { connectHttp, type HttpAuthorizer } from '@x/transport-http/client'
import { nodeHandler } from '@x/transport-http/node'
import * as z from 'zod'
import type { FetchFunction, Redirect } from '../src/client.ts'
import { protect, requireScopes } from '../src/server.ts'

/** A request for tokens, and the answer to it. */
export interface TokenExchange {
  readonly form: URLSearchParams
  readonly answer: Readonly<Record<string, unknown>>
}

/** A protected server on a socket, and the authorization server that it trusts: oidc-provider in a process. */
export interface RealWorld extends AsyncDisposable {
  readonly url: string
  readonly as: AuthServer
  /** The token requests that were sent with `fetch`, in order. */
  readonly exchanges: readonly TokenExchange[]
  readonly fetch: FetchFunction
  /** A person who agrees at once, and the addresses that they were sent to. */
  readonly person: Redirect & { readonly visited: readonly URL[] }
}

/** Options of the authorization server, and of the server that trusts it. */
export interface RealOptions extends Omit<AuthServerOptions, 'resources'> {
  /** Requires proofs that are made with a nonce of the server. */
  readonly dpop?: boolean
}

const tools = [
  tool('who_am_i', {
    description: 'Says who asks',
    run: (_, { principal }) => `${principal?.subject} by ${principal?.client}`,
  }),
  tool('update', { description: 'Changes an item', run: () => 'updated' }),
]

export const redirectUri = 'http://127.0.0.1:33418/callback'

export async function createRealWorld({ dpop = false, ...options }: RealOptions = {}): Promise<RealWorld> {
  const http = createHttpServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const as = await startAuthServer({
    ...options,
    resources: [{ resource: url, scopes: ['items:read', 'items:write'] }],
  })
  const extensions = [requireScopes({ 'tools/call': { update: ['items:write'] } })]
  const server = createServer({ name: 'items', version: '1.0.0', state: false, tools, extensions })
  const bound = { required: true, state: sealedState({ keys: [randomKey()], audience: 'items' }) }
  const auth = protect({ resource: url, issuers: [as.issuer], scopes: ['items:read'], ...(dpop && { dpop: bound }) })
  http.on('request', nodeHandler(server, { auth }))
  const exchanges: TokenExchange[] = []
  return {
    url,
    as,
    exchanges,
    fetch: async (address, request) => {
      const response = await fetch(address, request)
      if (address !== `${as.issuer}/token`) return response
      const answer = (await response.clone().json()) as TokenExchange['answer']
      exchanges.push({ form: new URLSearchParams(String(request.body)), answer })
      return response
    },
    person: personAt(as),
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
      await as.close()
    },
  }
}

function personAt(as: AuthServer): RealWorld['person'] {
  const visited: URL[] = []
  return {
    applicationType: 'native',
    visited,
    open: async () => ({
      uri: redirectUri,
      registeredUris: ['http://127.0.0.1/callback'],
      visit: (url) => {
        visited.push(url)
        return as.browse(url)
      },
      close: async () => {},
    }),
  }
}

/** Calls a tool, with a client and a connection of its own, and returns its text. */
export async function callItems(url: string, auth: HttpAuthorizer, name = 'who_am_i'): Promise<unknown> {
  await using connection = connectHttp(url, { auth })
  const { content } = await createClient(connection, { name: 'test', version: '1.0.0' }).callTool(name, {})
  const [first] = content
  return first?.type === 'text' ? first.text : content
}

const userTokens = z.object({ access_token: z.string(), id_token: z.string() })

/** Logs a user in with the code flow, step by step and without our client. */
export async function logInByHand(
  { issuer, browse }: AuthServer,
  client: { readonly id: string; readonly secret?: string; readonly redirectUri: string },
  params: Readonly<Record<string, string>>,
): Promise<z.infer<typeof userTokens>> {
  const verifier = 'v'.repeat(50)
  const { resource } = params
  const url = new URL('/auth', issuer)
  url.search = new URLSearchParams({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: client.redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...params,
  }).toString()
  const code = (await browse(url)).searchParams.get('code') ?? ''
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    code_verifier: verifier,
    ...(resource !== undefined && { resource }),
  })
  if (client.secret === undefined) body.set('client_id', client.id)
  const authorization = `Basic ${btoa(`${client.id}:${client.secret}`)}`
  const headers: Record<string, string> = client.secret === undefined ? {} : { authorization }
  const response = await fetch(new URL('/token', issuer), { method: 'POST', headers, body })
  return userTokens.parse(await response.json())
}
