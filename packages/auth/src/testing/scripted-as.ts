import { createHash, randomUUID } from 'node:crypto'
import { createCall, type Exchange } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import type { RedirectListener, Redirect } from '../client/code-flow.ts'
import { type CheckedProof, checkProof } from './proofs.ts'
import {
  type ReceivedRequest,
  type Reply,
  type Route,
  type ScriptedServer,
  createScriptedServer,
} from './http-script.ts'

/** Approves every login, except for the deviations that a test sets. */
export interface ScriptedAuthorizationServer extends ScriptedServer {
  readonly issuer: string
  /** A test may change it. */
  readonly metadata: Record<string, unknown>
  /** Lifetime of access tokens in seconds; `undefined` leaves it out of responses. */
  expiresIn: number | undefined
  /** Answer other grant types, by type: with the granted scope and resource, or an error response. */
  readonly otherGrants: Map<
    string,
    (form: URLSearchParams, received: ReceivedRequest) => CustomGrant | Promise<CustomGrant>
  >
  /** Nonce that proofs must contain. Undefined if they need none. */
  nonce: string | undefined
  /** Requests with a proof get bearer tokens nevertheless. */
  ignoresProofs: boolean
  /** Thumbprint of the key to which an access token is bound. */
  thumbprintOf(token: string | undefined): string | undefined
  /** True if this server issued the access token for the resource, with all these scopes. */
  accepts(token: string | undefined, resource: string, scopes?: readonly string[]): boolean
  /** Invalidates all issued access tokens. */
  expireTokens(): void
  /** Invalidates all issued refresh tokens. */
  expireLogins(): void
}

/** What a grant of a test's own returns. */
export type CustomGrant = { readonly scope: string; readonly resource: string } | Reply

interface TokenFamily {
  readonly scope: string
  readonly resource: string
  readonly thumbprint?: string | undefined
  isRevoked: boolean
}

interface AuthorizationCode extends TokenFamily {
  readonly challenge: string
  readonly redirectUri: string
  readonly client: string
}

const createErrorReply = (code: string, status = 400): Reply => ({ status, body: { error: code } })

interface IssuedGrants {
  readonly codes: Map<string, AuthorizationCode>
  readonly accessTokens: Map<string, TokenFamily>
  readonly refresh: Map<string, { readonly family: TokenFamily; isUsed: boolean }>
  readonly pushedRequests: Map<string, URLSearchParams>
}

const fieldOf = (params: URLSearchParams, name: string): string => params.get(name) ?? ''

/** The name is recognizable: tests search for it in everything that the code writes. */
const createCredential = (kind: string): string => `canary-${kind}-${randomUUID()}`

/**
 * Supports PKCE, registration, pushed requests, revocation and rotating refresh tokens. Using a refresh token twice
 * ends the login.
 */
export async function createScriptedAuthorizationServer(port = 0): Promise<ScriptedAuthorizationServer> {
  const server = await createScriptedServer(port)
  const { origin: issuer } = server
  const grants: IssuedGrants = {
    codes: new Map(),
    accessTokens: new Map(),
    refresh: new Map(),
    pushedRequests: new Map(),
  }
  const { accessTokens, refresh } = grants
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
    thumbprintOf: (token: string | undefined) => accessTokens.get(token ?? '')?.thumbprint,
    accepts: (token: string | undefined, resource: string, scopes: readonly string[] = []) => {
      const family = accessTokens.get(token ?? '')
      const has = family?.scope.split(' ') ?? []
      return family?.resource === resource && scopes.every((scope) => has.includes(scope))
    },
    expireTokens: () => accessTokens.clear(),
    expireLogins: () => refresh.clear(),
  })
  const { routes } = server
  routes.set('/.well-known/oauth-authorization-server', () => ({ body: as.metadata }))
  routes.set('/authorize', (one) => issueCode(as, grants, one))
  routes.set('/token', createTokenRoute(as, grants))
  routes.set('/register', ({ body }) => ({
    status: 201,
    body: { ...(JSON.parse(body) as object), client_id: `client-${randomUUID()}` },
  }))
  routes.set('/revoke', ({ form }) => {
    accessTokens.delete(fieldOf(form, 'token'))
    refresh.delete(fieldOf(form, 'token'))
    return { body: {} }
  })
  routes.set('/par', ({ form }) => {
    const uri = `urn:ietf:params:oauth:request_uri:${randomUUID()}`
    grants.pushedRequests.set(uri, form)
    return { status: 201, body: { request_uri: uri, expires_in: 60 } }
  })
  return as
}

function issueCode(
  { issuer }: ScriptedAuthorizationServer,
  { codes, pushedRequests }: IssuedGrants,
  { query }: ReceivedRequest,
): Reply {
  const params = pushedRequests.get(fieldOf(query, 'request_uri')) ?? query
  const code = createCredential('code')
  codes.set(code, {
    challenge: fieldOf(params, 'code_challenge'),
    redirectUri: fieldOf(params, 'redirect_uri'),
    client: fieldOf(params, 'client_id'),
    scope: fieldOf(params, 'scope'),
    resource: fieldOf(params, 'resource'),
    isRevoked: false,
  })
  const back = new URL(fieldOf(params, 'redirect_uri'))
  const answer = { code, state: fieldOf(params, 'state'), iss: issuer }
  for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value)
  return { status: 302, headers: { location: back.href } }
}

function createTokenRoute(as: ScriptedAuthorizationServer, grants: IssuedGrants): Route {
  const seen = new Set<string>()
  return async (received) => {
    const proof = await proofOf(as, received, seen)
    if ('error' in proof) {
      return { ...createErrorReply(proof.error), headers: as.nonce === undefined ? {} : { 'dpop-nonce': as.nonce } }
    }
    const { form } = received
    const type = fieldOf(form, 'grant_type')
    const other = as.otherGrants.get(type)
    if (other !== undefined) {
      const granted = await other(form, received)
      return 'resource' in granted ? issueTokens(as, grants, { ...granted, ...proof, isRevoked: false }) : granted
    }
    if (type === 'refresh_token') return refreshTokens(as, grants, { form, proof })
    return type === 'authorization_code'
      ? exchangeCode(as, grants, { form, proof })
      : createErrorReply('unsupported_grant_type')
  }
}

interface ProofResult {
  readonly thumbprint?: string
}

async function proofOf(
  as: ScriptedAuthorizationServer,
  received: ReceivedRequest,
  seen: Set<string>,
): Promise<CheckedProof | ProofResult> {
  if (received.headers.dpop === undefined || as.ignoresProofs) return {}
  return checkProof(received, { url: `${as.issuer}/token`, nonce: as.nonce, usedProofIds: seen })
}

interface TokenForm {
  readonly form: URLSearchParams
  readonly proof: ProofResult
}

function exchangeCode(as: ScriptedAuthorizationServer, grants: IssuedGrants, { form, proof }: TokenForm): Reply {
  const code = grants.codes.get(fieldOf(form, 'code'))
  grants.codes.delete(fieldOf(form, 'code'))
  const challenge = createHash('sha256').update(fieldOf(form, 'code_verifier')).digest('base64url')
  const isRight = code?.challenge === challenge && code.redirectUri === form.get('redirect_uri')
  return code !== undefined && isRight && code.resource === fieldOf(form, 'resource')
    ? issueTokens(as, grants, { ...code, ...proof })
    : createErrorReply('invalid_grant')
}

function refreshTokens(as: ScriptedAuthorizationServer, grants: IssuedGrants, { form, proof }: TokenForm): Reply {
  const found = grants.refresh.get(fieldOf(form, 'refresh_token'))
  if (found === undefined || found.family.isRevoked) return createErrorReply('invalid_grant')
  // RFC 9449, section 5: a public client's refresh token is bound to the key too.
  if (found.family.thumbprint !== proof.thumbprint) return createErrorReply('invalid_grant')
  // A refresh token that is used twice may be stolen, so the whole login ends.
  if (found.isUsed) {
    found.family.isRevoked = true
    for (const [token, family] of grants.accessTokens) if (family === found.family) grants.accessTokens.delete(token)
    return createErrorReply('invalid_grant')
  }
  found.isUsed = true
  return issueTokens(as, grants, found.family)
}

function issueTokens(
  { expiresIn }: ScriptedAuthorizationServer,
  { accessTokens, refresh }: IssuedGrants,
  family: TokenFamily,
): Reply {
  const [token, next] = [createCredential('access'), createCredential('refresh')]
  accessTokens.set(token, family)
  refresh.set(next, { family, isUsed: false })
  const expires = expiresIn === undefined ? {} : { expires_in: expiresIn }
  const token_type = family.thumbprint === undefined ? 'Bearer' : 'DPoP'
  // Only the exchange of a token has this member (RFC 8693, section 2.2.1). Other grants ignore it.
  const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token'
  return { body: { access_token: token, token_type, issued_token_type, refresh_token: next, ...expires } }
}

/** A protected MCP endpoint with the path `/mcp`. */
export interface ScriptedResource extends ScriptedServer {
  readonly url: string
  /** A test may change it. */
  readonly metadata: Record<string, unknown>
  /** Scopes that a call needs, by the name of its tool. */
  readonly requiredScopes: Map<string, readonly string[]>
  /** Authorization servers whose tokens this endpoint accepts. */
  acceptedServers: readonly ScriptedAuthorizationServer[]
  /** Nonce that proofs must contain. */
  nonce: string | undefined
  /** Answers the authorized requests. */
  exchange: Exchange
}

/** Requests with a token of `as` are answered, all others challenged. */
export async function createScriptedResource(as: ScriptedAuthorizationServer): Promise<ScriptedResource> {
  const server = await createScriptedServer()
  const url = `${server.origin}/mcp`
  const metadataUrl = `${server.origin}/.well-known/oauth-protected-resource/mcp`
  const metadata: Record<string, unknown> = { resource: url, authorization_servers: [as.issuer] }
  const resource: ScriptedResource = Object.assign(server, {
    url,
    metadata,
    requiredScopes: new Map<string, readonly string[]>(),
    acceptedServers: [as] as readonly ScriptedAuthorizationServer[],
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
  const proofError = async (received: ReceivedRequest, token: string | undefined): Promise<string | undefined> => {
    const bound = resource.acceptedServers.map((one) => one.thumbprintOf(token)).find((one) => one !== undefined)
    const isDpop = received.headers.authorization?.startsWith('DPoP ') ?? false
    if (bound === undefined) return isDpop ? 'invalid_token' : undefined
    if (!isDpop) return 'invalid_token'
    const proof = await checkProof(received, { url, accessToken: token, nonce: resource.nonce, usedProofIds: seen })
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
    const scopes = resource.requiredScopes.get(String(request.params?.['name'])) ?? []
    const isHere = (needed?: readonly string[]): boolean =>
      resource.acceptedServers.some((one) => one.accepts(token, String(metadata['resource']), needed))
    if (!isHere()) return challenge(401, token === undefined ? {} : { error: 'invalid_token' })
    if (!isHere(scopes)) return challenge(403, { error: 'insufficient_scope', scope: scopes.join(' ') })
    return { body: await resource.exchange(request, createCall()) }
  })
  return resource
}

/** A person who approves each login at once. No browser is opened. */
export interface MemoryBrowser extends Redirect {
  readonly visited: readonly URL[]
  /** Changes the redirect before the listener gets it. */
  transformAnswer: (answer: URL) => URL | Promise<URL>
}

export function createMemoryBrowser(uri = 'http://127.0.0.1:7777/callback'): MemoryBrowser {
  const visited: URL[] = []
  const browser: MemoryBrowser = {
    applicationType: 'native',
    visited,
    transformAnswer: (answer) => answer,
    open: async (signal): Promise<RedirectListener> => ({
      uri,
      visit: async (url) => {
        visited.push(url)
        const response = await fetch(url, { redirect: 'manual', signal })
        await response.body?.cancel()
        return browser.transformAnswer(new URL(response.headers.get('location') ?? 'about:blank'))
      },
      close: async () => {},
    }),
  }
  return browser
}
