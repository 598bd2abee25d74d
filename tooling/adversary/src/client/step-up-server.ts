import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A server that requires one more scope for each call, and is its own authorization server. */
export interface StepUpServer extends AsyncDisposable {
  readonly url: string
  /** The number of logins so far. */
  readonly loginCount: number
}

interface StepUpAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: object
}

/** Starts a server that grants every login, and then requires another one. */
export async function startStepUpServer(): Promise<StepUpServer> {
  let [loginCount, callCount] = [0, 0]
  const logIn = (parameters: URLSearchParams, origin: string): StepUpAnswer => {
    loginCount += 1
    const location = new URL(callback)
    const answered = { code: `code-${loginCount}`, state: parameters.get('state') ?? '', iss: origin }
    for (const [name, value] of Object.entries(answered)) location.searchParams.set(name, value)
    return { status: 302, headers: { location: location.href } }
  }
  const demandMore = (isLoggedIn: boolean, origin: string): StepUpAnswer => {
    callCount += 1
    const demand = isLoggedIn ? `error="insufficient_scope", scope="scope-${callCount}", ` : ''
    const challenge = `Bearer ${demand}resource_metadata="${origin}${resourcePath}"`
    return { status: isLoggedIn ? 403 : 401, headers: { 'www-authenticate': challenge } }
  }
  const answer = ({ url = '', headers }: IncomingMessage, origin: string): StepUpAnswer => {
    const { pathname, searchParams } = new URL(url, origin)
    const document = documentsOf(origin, loginCount)[pathname]
    if (document !== undefined) return { status: pathname === '/register' ? 201 : 200, json: document }
    return pathname === '/authorize'
      ? logIn(searchParams, origin)
      : demandMore(headers.authorization !== undefined, origin)
  }
  const server = createServer((request, response) => {
    void text(request).then(() => {
      const { status, headers, json } = answer(request, `http://${request.headers.host}`)
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(json === undefined ? '' : JSON.stringify(json))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // A TCP server has an address with a port.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    get loginCount() {
      return loginCount
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The redirect URI of the client. No server listens there. */
export const callback = 'http://127.0.0.1:9/callback'

const resourcePath = '/.well-known/oauth-protected-resource/mcp'

function documentsOf(origin: string, loginCount: number): Readonly<Record<string, object>> {
  return {
    [resourcePath]: { resource: `${origin}/mcp`, authorization_servers: [origin] },
    '/.well-known/oauth-authorization-server': metadataOf(origin),
    '/register': { client_id: 'adversary', redirect_uris: [callback] },
    '/token': { access_token: `token-${loginCount}`, token_type: 'Bearer', expires_in: 3600 },
  }
}

function metadataOf(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  }
}
