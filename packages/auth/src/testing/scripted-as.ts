import { createHash, randomUUID } from 'node:crypto'
import { createCall, type Exchange, type RpcRequest } from '@x/schema'
import type { RedirectListener, Redirect } from '../client/code-flow.ts'
import { type CheckedProof, checkProof } from './proofs.ts'
import { type Received, type Reply, type Route, type ScriptedServer, scriptedServer } from './http-script.ts'

/** An authorization server that says yes to everybody, and what a test wants of it besides. */
export interface ScriptedAuthorizationServer extends ScriptedServer {
  readonly issuer: string
  /** The metadata, to be changed by tests. */
  readonly metadata: Record<string, unknown>
  /** Lifetime of access tokens, in seconds; `undefined` does not say. */
  expiresIn: number | undefined
  /** Grants of other types, by type: the scope and resource of what is granted, or an error. */
  readonly otherGrants: Map<string, (form: URLSearchParams, received: Received) => OtherGrant | Promise<OtherGrant>>
  /** Binds tokens of requests with a proof, and asks for this nonce in it. */
  nonce: string | undefined
  /** True where requests with a proof get bearer tokens all the same. */
  ignoresProofs: boolean
  /** The thumbprint of the key that an access token is bound to. */
  boundTo(token: string | undefined): string | undefined
  /** True for an access token of this server that is good for a resource and has the scopes. */
  accepts(token: string | undefined, resource: string, scopes?: readonly string[]): boolean
  /** Ends the access tokens that are out. */
  endTokens(): void
  /** Ends the refresh tokens that are out. */
  endLogins(): void
}

/** Result of a grant of a test. */
export type OtherGrant = { readonly scope: string; readonly resource: string } | Reply

interface Family {
  readonly scope: string
  readonly resource: string
  readonly thumbprint?: string | undefined
  isOver: boolean
}

interface Code extends Family {
  readonly challenge: string
  readonly redirectUri: string
  readonly client: string
}

const error = (code: string, status = 400): Reply => ({ status, body: { error: code } })

/** Credentials that an authorization server has given out. */
interface Grants {
  readonly codes: Map<string, Code>
  readonly access: Map<string, Family>
  readonly refresh: Map<string, { readonly family: Family; isUsed: boolean }>
  readonly pushed: Map<string, URLSearchParams>
}

const field = (params: URLSearchParams, name: string): string => params.get(name) ?? ''

/** Makes a credential that is looked for in everything that a test run writes. */
const credential = (kind: string): string => `canary-${kind}-${randomUUID()}`

/** Starts one: PKCE, rotating refresh tokens whose reuse ends the login, registration, pushed requests, revocation. */
export async function scriptedAuthorizationServer(port = 0): Promise<ScriptedAuthorizationServer> {
  const server = await scriptedServer(port)
  const { origin: issuer } = server
  const grants: Grants = { codes: new Map(), access: new Map(), refresh: new Map(), pushed: new Map() }
  const { access, refresh } = grants
  const as: ScriptedAuthorizationServer = Object.assign(server, {
    issuer,
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      revocation_endpoint: `${issuer}/revoke`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
    },
    expiresIn: 3600 as number | undefined,
    otherGrants: new Map(),
    nonce: undefined as string | undefined,
    ignoresProofs: false,
    boundTo: (token: string | undefined) => access.get(token ?? '')?.thumbprint,
    accepts: (token: string | undefined, resource: string, scopes: readonly string[] = []) => {
      const family = access.get(token ?? '')
      const has = family?.scope.split(' ') ?? []
      return family?.resource === resource && scopes.every((scope) => has.includes(scope))
    },
    endTokens: () => access.clear(),
    endLogins: () => refresh.clear(),
  })
  const { routes } = server
  routes.set('/.well-known/oauth-authorization-server', () => ({ body: as.metadata }))
  routes.set('/authorize', (one) => issueCode(as, grants, one))
  routes.set('/token', tokenRoute(as, grants))
  routes.set('/register', ({ body }) => ({
    status: 201,
    body: { ...(JSON.parse(body) as object), client_id: `client-${randomUUID()}` },
  }))
  routes.set('/revoke', ({ form }) => {
    access.delete(field(form, 'token'))
    refresh.delete(field(form, 'token'))
    return { body: {} }
  })
  routes.set('/par', ({ form }) => {
    const uri = `urn:ietf:params:oauth:request_uri:${randomUUID()}`
    grants.pushed.set(uri, form)
    return { status: 201, body: { request_uri: uri, expires_in: 60 } }
  })
  return as
}

function issueCode({ issuer }: ScriptedAuthorizationServer, { codes, pushed }: Grants, { query }: Received): Reply {
  const params = pushed.get(field(query, 'request_uri')) ?? query
  const code = credential('code')
  codes.set(code, {
    challenge: field(params, 'code_challenge'),
    redirectUri: field(params, 'redirect_uri'),
    client: field(params, 'client_id'),
    scope: field(params, 'scope'),
    resource: field(params, 'resource'),
    isOver: false,
  })
  const back = new URL(field(params, 'redirect_uri'))
  const answer = { code, state: field(params, 'state'), iss: issuer }
  for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value)
  return { status: 302, headers: { location: back.href } }
}

function tokenRoute(as: ScriptedAuthorizationServer, grants: Grants): Route {
  const seen = new Set<string>()
  return async (received) => {
    const proof = await proofOf(as, received, seen)
    if ('error' in proof) {
      return { ...error(proof.error), headers: as.nonce === undefined ? {} : { 'dpop-nonce': as.nonce } }
    }
    const { form } = received
    const type = field(form, 'grant_type')
    const other = as.otherGrants.get(type)
    if (other !== undefined) {
      const granted = await other(form, received)
      return 'resource' in granted ? issue(as, grants, { ...granted, ...proof, isOver: false }) : granted
    }
    if (type === 'refresh_token') return renew(as, grants, { form, proof })
    return type === 'authorization_code' ? exchange(as, grants, { form, proof }) : error('unsupported_grant_type')
  }
}

interface Proven {
  readonly thumbprint?: string
}

async function proofOf(
  as: ScriptedAuthorizationServer,
  received: Received,
  seen: Set<string>,
): Promise<CheckedProof | Proven> {
  if (received.headers.dpop === undefined || as.ignoresProofs) return {}
  return checkProof(received, { url: `${as.issuer}/token`, nonce: as.nonce, seen })
}

interface TokenForm {
  readonly form: URLSearchParams
  readonly proof: Proven
}

function exchange(as: ScriptedAuthorizationServer, grants: Grants, { form, proof }: TokenForm): Reply {
  const code = grants.codes.get(field(form, 'code'))
  grants.codes.delete(field(form, 'code'))
  const challenge = createHash('sha256').update(field(form, 'code_verifier')).digest('base64url')
  const isRight = code?.challenge === challenge && code.redirectUri === form.get('redirect_uri')
  return code !== undefined && isRight && code.resource === field(form, 'resource')
    ? issue(as, grants, { ...code, ...proof })
    : error('invalid_grant')
}

function renew(as: ScriptedAuthorizationServer, grants: Grants, { form, proof }: TokenForm): Reply {
  const found = grants.refresh.get(field(form, 'refresh_token'))
  if (found === undefined || found.family.isOver) return error('invalid_grant')
  // RFC 9449, section 5: the refresh token of a public client is bound as well.
  if (found.family.thumbprint !== proof.thumbprint) return error('invalid_grant')
  // A refresh token that comes twice is in the wrong hands: the whole login ends.
  if (found.isUsed) {
    found.family.isOver = true
    for (const [token, family] of grants.access) if (family === found.family) grants.access.delete(token)
    return error('invalid_grant')
  }
  found.isUsed = true
  return issue(as, grants, found.family)
}

function issue({ expiresIn }: ScriptedAuthorizationServer, { access, refresh }: Grants, family: Family): Reply {
  const [token, next] = [credential('access'), credential('refresh')]
  access.set(token, family)
  refresh.set(next, { family, isUsed: false })
  const expires = expiresIn === undefined ? {} : { expires_in: expiresIn }
  const token_type = family.thumbprint === undefined ? 'Bearer' : 'DPoP'
  return { body: { access_token: token, token_type, refresh_token: next, ...expires } }
}

/** A protected MCP endpoint at `/mcp`. */
export interface ScriptedResource extends ScriptedServer {
  readonly url: string
  /** The metadata, to be changed by tests. */
  readonly metadata: Record<string, unknown>
  /** The scopes that a request needs, by the name of its tool. */
  readonly needs: Map<string, readonly string[]>
  /** The servers whose tokens are good here. */
  accepted: readonly ScriptedAuthorizationServer[]
  /** The nonce that proofs must have. */
  nonce: string | undefined
  /** Handler of requests that are authorized. */
  exchange: Exchange
}

/** Starts an endpoint that answers every request with a token of `as`, and challenges all others. */
export async function scriptedResource(as: ScriptedAuthorizationServer): Promise<ScriptedResource> {
  const server = await scriptedServer()
  const url = `${server.origin}/mcp`
  const metadataUrl = `${server.origin}/.well-known/oauth-protected-resource/mcp`
  const metadata: Record<string, unknown> = { resource: url, authorization_servers: [as.issuer] }
  const resource: ScriptedResource = Object.assign(server, {
    url,
    metadata,
    needs: new Map<string, readonly string[]>(),
    accepted: [as] as readonly ScriptedAuthorizationServer[],
    nonce: undefined as string | undefined,
    exchange: (async ({ id }) => ({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', content: [] },
    })) as Exchange,
  })
  const challenge = (status: number, fields: Record<string, string>): Reply => {
    const params = Object.entries({ ...fields, resource_metadata: metadataUrl })
    const text = params.map(([name, value]) => `${name}="${value}"`).join(', ')
    return { status, headers: { 'www-authenticate': `Bearer ${text}` }, body: 'no' }
  }
  server.routes.set('/.well-known/oauth-protected-resource/mcp', () => ({ body: metadata }))
  const seen = new Set<string>()
  const proofError = async (received: Received, token: string | undefined): Promise<string | undefined> => {
    const bound = resource.accepted.map((one) => one.boundTo(token)).find((one) => one !== undefined)
    const isDpop = received.headers.authorization?.startsWith('DPoP ') ?? false
    if (bound === undefined) return isDpop ? 'invalid_token' : undefined
    if (!isDpop) return 'invalid_token'
    const proof = await checkProof(received, { url, access: token, nonce: resource.nonce, seen })
    if ('error' in proof) return proof.error
    return proof.thumbprint === bound ? undefined : 'invalid_token'
  }
  server.routes.set('/mcp', async (received) => {
    const { headers, body } = received
    const token = headers.authorization?.replace(/^(?:Bearer|DPoP) /, '')
    const error = await proofError(received, token)
    if (error !== undefined) {
      const nonce: Record<string, string> = resource.nonce === undefined ? {} : { 'dpop-nonce': resource.nonce }
      return { status: 401, headers: { 'www-authenticate': `DPoP error="${error}"`, ...nonce }, body: 'no' }
    }
    const request = JSON.parse(body) as RpcRequest
    const scopes = resource.needs.get(String(request.params?.['name'])) ?? []
    const isHere = (needed?: readonly string[]): boolean =>
      resource.accepted.some((one) => one.accepts(token, String(metadata['resource']), needed))
    if (!isHere()) return challenge(401, token === undefined ? {} : { error: 'invalid_token' })
    if (!isHere(scopes)) return challenge(403, { error: 'insufficient_scope', scope: scopes.join(' ') })
    return { body: await resource.exchange(request, createCall()) }
  })
  return resource
}

/** A person who agrees at once, in a browser without a page. */
export interface MemoryBrowser extends Redirect {
  readonly visited: readonly URL[]
  /** Changes the address that a person comes back to. */
  back: (answer: URL) => URL | Promise<URL>
}

export function memoryBrowser(uri = 'http://127.0.0.1:7777/callback'): MemoryBrowser {
  const visited: URL[] = []
  const browser: MemoryBrowser = {
    applicationType: 'native',
    visited,
    back: (answer) => answer,
    open: async (signal): Promise<RedirectListener> => ({
      uri,
      visit: async (url) => {
        visited.push(url)
        const response = await fetch(url, { redirect: 'manual', signal })
        await response.body?.cancel()
        return browser.back(new URL(response.headers.get('location') ?? 'about:blank'))
      },
      close: async () => {},
    }),
  }
  return browser
}
