// An authorization server in a separate process, on the version of Node that oidc-provider requires. The first argument
// is its configuration, as JSON. The first line of its output is its issuer. It exits when its input ends.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createLocalJWKSet, createRemoteJWKSet, importJWK, jwtVerify, SignJWT } from 'jose'
import { errors, interactionPolicy, Provider } from 'oidc-provider'
import { loginPage } from './login-page.mjs'

const options = JSON.parse(process.argv[2] ?? '{}')
const {
  port = 0,
  clients = [],
  resources = [],
  trusted = {},
  clientDocuments = {},
  tokenTtl = 300,
  requireDpopNonce = false,
  requirePushedRequests = false,
  pages = false,
  accounts = [],
} = options

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const idJag = 'urn:ietf:params:oauth:token-type:id-jag'
const accessToken = 'urn:ietf:params:oauth:token-type:access_token'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = { ...rsa.privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }
const publicJwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: jwk.kid, use: 'sig', alg: 'RS256' }

const server = createServer()
await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)))
const issuer = `http://127.0.0.1:${server.address().port}`

const provider = new Provider(issuer, {
  clients,
  jwks: { keys: [jwk] },
  cookies: { keys: [randomUUID()] },
  scopes: ['openid', 'offline_access'],
  pkce: { required: () => true },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  // With `pages` the user fills in the forms of the provider. Without them the server logs the user in itself.
  ...(!pages && { interactions: { url: (_ctx, { uid }) => `/interaction/${uid}`, policy: policy() } }),
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  renderError: (ctx, out) => {
    ctx.type = 'text'
    ctx.body = JSON.stringify(out)
  },
  ttl: {
    AccessToken: tokenTtl,
    ClientCredentials: tokenTtl,
    Grant: 3600,
    IdToken: 3600,
    Interaction: 600,
    RefreshToken: 3600,
    Session: 3600,
  },
  // The options contain the metadata documents of clients.
  fetch: async (url, init) => {
    const document = clientDocuments[String(url)]
    if (document === undefined) return fetch(url, init)
    return new Response(JSON.stringify(document), { headers: { 'Content-Type': 'application/json' } })
  },
  features: {
    devInteractions: { enabled: pages },
    registration: { enabled: true },
    revocation: { enabled: true, allowedPolicy: () => true },
    introspection: { enabled: true, allowedPolicy: () => true },
    clientCredentials: { enabled: true },
    pushedAuthorizationRequests: {
      enabled: true,
      requirePushedAuthorizationRequests: requirePushedRequests,
    },
    dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => requireDpopNonce },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, resource, client) => resourceServerOf(resource, client.clientId),
      useGrantedResource: () => true,
    },
  },
})

// A test run searches its output for this prefix, because an opaque credential looks like any other random text.
for (const kind of ['AccessToken', 'ClientCredentials', 'RefreshToken', 'AuthorizationCode']) {
  const { prototype } = provider[kind]
  const { generateTokenId } = prototype
  prototype.generateTokenId = function () {
    const id = generateTokenId.call(this)
    // The id of a JWT is not a credential, and is one of its claims.
    return this.format === 'jwt' ? id : `canary-${kind}-${randomUUID()}`
  }
}

/**
 * Creates the policy of interactions. With accounts, each login shows the page, so that two users can share a browser.
 */
function policy() {
  const policy = interactionPolicy.base()
  const needsAccount = (ctx) => accounts.length > 0 && ctx.oidc.result?.login === undefined
  const check = new interactionPolicy.Check('account', 'choose an account', 'login_required', needsAccount)
  policy.get('login').checks.add(check)
  return policy
}

/**
 * @param {string} resource
 * @param {string} clientId
 */
function resourceServerOf(resource, clientId) {
  const known = resources.find((one) => one.resource === resource)
  if (known === undefined) throw new errors.InvalidTarget()
  const { scopes = [], clientScopes = {}, format = 'jwt' } = known
  return {
    scope: (clientScopes[clientId] ?? scopes).join(' '),
    audience: resource,
    accessTokenTTL: tokenTtl,
    accessTokenFormat: format,
  }
}

// RFC 7523: exchanges an assertion of a trusted issuer for a token of the requested resource.
provider.registerGrantType(
  jwtBearer,
  async (ctx) => {
    const { client, params } = ctx.oidc
    const claims = await verifyAssertion(params.assertion)
    const resource = params.resource ?? claims.resource
    const info = resourceServerOf(resource, client.clientId)
    const scope = scopeOf(params.scope ?? claims.scope, info)
    const token = new provider.AccessToken({ accountId: claims.sub, client, scope, gty: 'jwt_bearer' })
    token.resourceServer = new provider.ResourceServer(resource, info)
    const value = await token.save()
    ctx.body = { access_token: value, token_type: 'Bearer', expires_in: token.expiration, scope }
  },
  ['assertion', 'scope', 'resource'],
  ['resource'],
)

// RFC 8693: exchanges an ID token of this server for an ID-JAG, which another server accepts as an assertion. Exchanges
// an access token for an access token of another resource.
provider.registerGrantType(
  exchange,
  async (ctx) => {
    const { client, params } = ctx.oidc
    if (params.requested_token_type === accessToken) {
      ctx.body = await exchangeAccessToken(client, params)
      return
    }
    if (params.requested_token_type !== idJag) throw new errors.InvalidRequest('requested_token_type must be an ID-JAG')
    const own = createLocalJWKSet({ keys: [publicJwk] })
    const { payload } = await verifySubject(params.subject_token, own, { issuer })
    const claims = { client_id: params.client_id_at ?? client.clientId, resource: params.resource, scope: params.scope }
    const token = await new SignJWT({ ...claims, jti: randomUUID() })
      .setProtectedHeader({ alg: 'RS256', kid: jwk.kid, typ: 'oauth-id-jag+jwt' })
      .setIssuer(issuer)
      .setSubject(payload.sub)
      .setAudience(params.audience)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(await importJWK(jwk, 'RS256'))
    ctx.body = { issued_token_type: idJag, access_token: token, token_type: 'N_A', expires_in: 300 }
  },
  ['requested_token_type', 'subject_token', 'subject_token_type', 'audience', 'resource', 'scope', 'client_id_at'],
)

/**
 * Exchanges an access token of this server, which may be a JWT or opaque.
 * @param {object} client
 * @param {Readonly<Record<string, string>>} params
 */
async function exchangeAccessToken(client, { subject_token: subjectToken, subject_token_type: type, resource, scope }) {
  if (type !== accessToken) throw new errors.InvalidRequest('subject_token_type must be an access token')
  const accountId = await accountOf(subjectToken)
  const info = resourceServerOf(resource, client.clientId)
  const granted = scopeOf(scope, info)
  const token = new provider.AccessToken({ accountId, client, scope: granted, gty: 'token_exchange' })
  token.resourceServer = new provider.ResourceServer(resource, info)
  const value = await token.save()
  return { issued_token_type: accessToken, access_token: value, token_type: 'Bearer', expires_in: token.expiration }
}

/** @param {string} subjectToken */
async function accountOf(subjectToken) {
  const opaque = await provider.AccessToken.find(subjectToken)
  if (opaque !== undefined) return opaque.accountId
  const { payload } = await verifySubject(subjectToken, createLocalJWKSet({ keys: [publicJwk] }), { issuer })
  return payload.sub
}

/** @param {string} assertion */
async function verifyAssertion(assertion) {
  for (const [trustedIssuer, keys] of Object.entries(trusted)) {
    const set = typeof keys === 'string' ? createRemoteJWKSet(new URL(keys)) : createLocalJWKSet(keys)
    const found = await jwtVerify(assertion, set, { issuer: trustedIssuer, audience: issuer }).catch(() => undefined)
    if (found !== undefined) return found.payload
  }
  throw new errors.InvalidGrant('the assertion has no trusted issuer')
}

async function verifySubject(token, keys, rules) {
  return jwtVerify(token, keys, rules).catch(() => {
    throw new errors.InvalidGrant('the subject token is not valid')
  })
}

function scopeOf(requested, { scope }) {
  const known = scope.split(' ')
  return (requested ?? scope)
    .split(' ')
    .filter((name) => known.includes(name))
    .join(' ')
}

// Logs in with the account that the user chose, and grants every scope. "none" declines. Without accounts there is no
// page: the account is the login_hint, or "ada" without one.
async function interact(request, response) {
  const { params } = await provider.interactionDetails(request, response)
  if (accounts.length > 0 && request.method !== 'POST') return sendPage(response, loginPage(accounts, params.scope))
  const accountId = accounts.length > 0 ? await chosenAccount(request) : (params.login_hint ?? 'ada')
  if (accountId === 'none') return provider.interactionFinished(request, response, { error: 'access_denied' })
  const grant = new provider.Grant({ accountId, clientId: params.client_id })
  grant.addOIDCScope('openid offline_access')
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, params.scope ?? '')
  const result = { login: { accountId }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result)
}

async function chosenAccount(request) {
  const body = await text(request)
  const account = new URLSearchParams(body).get('account')
  return accounts.includes(account) ? account : 'none'
}

function sendPage(response, html) {
  const security = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': security }).end(html)
}

const handle = provider.callback()
server.on('request', (request, response) => {
  if (pages || !request.url?.startsWith('/interaction/')) return void handle(request, response)
  interact(request, response).catch((error) => response.writeHead(500).end(String(error)))
})
process.stdin.resume().on('end', () => process.exit(0))
process.stdout.write(`${JSON.stringify({ issuer })}\n`)
