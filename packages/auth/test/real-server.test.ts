import { createHash, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { startAuthServer } from '@tooling/auth-server'
import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { logInByHand } from './real-world.ts'
import { isTokenError, needScopes, protect, requireScopes } from '../src/server.ts'

const resource = 'https://items.example/mcp'
const elsewhere = 'https://elsewhere.example/mcp'
const opaque = 'https://opaque.example/mcp'
const job = { id: 'job', secret: 'job-secret' }
const redirect = 'http://127.0.0.1/callback'

const real = await startAuthServer({
  resources: [
    { resource, scopes: ['items:read', 'items:write'] },
    { resource: elsewhere, scopes: ['items:read'] },
    { resource: opaque, scopes: ['items:read'], format: 'opaque' },
  ],
  clients: [
    {
      client_id: job.id,
      client_secret: job.secret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
    { client_id: 'cli', token_endpoint_auth_method: 'none', application_type: 'native', redirect_uris: [redirect] },
  ],
})

const whoAmI = tool('who_am_i', {
  description: 'Says who asks',
  run: (_, { principal }) => `${principal?.subject} by ${principal?.client}`,
})
const erase = tool('erase', {
  description: 'Erases an item, all of them with the right scope',
  input: z.object({ all: z.boolean() }),
  run({ all }, ctx) {
    if (all) needScopes(ctx, 'items:read', 'items:write')
    return 'erased'
  },
})
const update = tool('update', { description: 'Changes an item', run: () => 'updated' })
/** Errors that the server logged. */
const logged: unknown[] = []

const server = createServer({
  name: 'items',
  version: '1.0.0',
  tools: [whoAmI, erase, update],
  extensions: [requireScopes({ 'tools/call': { update: ['items:write'] } })],
  log: ({ err }) => logged.push(err),
})

async function serveProtected(own = resource): Promise<HttpServer> {
  const introspection = { client: job }
  const issuers = own === opaque ? [{ issuer: real.issuer, introspection }] : [real.issuer]
  const auth = protect({ resource: own, issuers, scopes: ['items:read'] })
  return serveHttp(server, { auth })
}

function clientOf({ url }: HttpServer, token: string) {
  const connection = connectHttp(url, { headers: { authorization: `Bearer ${token}` } })
  return createClient(connection, { name: 'test', version: '1.0.0' })
}

const notValid = { rpc: { message: 'The access token is not valid here' } }
const lacksScope = { rpc: { data: { reason: 'insufficient_scope' } } }

const login = (user: string) =>
  logInByHand(real, { id: 'cli', redirectUri: redirect }, { resource, scope: 'openid items:read', login_hint: user })

test('tokens of a real authorization server say who asks: two users, and a job [AUT-001 AUT-040]', async () => {
  await using http = await serveProtected()
  const users = await Promise.all([login('ada'), login('eve')])
  const tokens = [
    ...users.map((user) => user.access_token),
    await real.issue({ ...job, resource, scope: 'items:read' }),
  ]
  const asked = await Promise.all(tokens.map((token) => clientOf(http, token).callTool('who_am_i', {})))
  expect(asked.map(({ content }) => content)).toMatchObject([
    [{ text: 'ada by cli' }],
    [{ text: 'eve by cli' }],
    [{ text: 'job by job' }],
  ])
})

test('a token of the same server for another resource is refused, and so is an ID token [AUS-003 AUS-027 AUT-041]', async () => {
  logged.length = 0
  await using http = await serveProtected()
  const token = await real.issue({ ...job, resource: elsewhere, scope: 'items:read' })
  await expect(clientOf(http, token).callTool('who_am_i', {})).rejects.toMatchObject(notValid)
  const { id_token: idToken } = await login('ada')
  await expect(clientOf(http, idToken).callTool('who_am_i', {})).rejects.toMatchObject(notValid)
  expect(logged.map((error) => isTokenError(error) && error.code)).toEqual(['wrong_audience', 'wrong_audience'])
})

test('a tool that needs more than the token has is 403, before its handler runs and inside it [AUE-011]', async () => {
  await using http = await serveProtected()
  const reader = await real.issue({ ...job, resource, scope: 'items:read' })
  await expect(clientOf(http, reader).callTool('update', {})).rejects.toMatchObject(lacksScope)
  await expect(clientOf(http, reader).callTool('erase', { all: true })).rejects.toMatchObject(lacksScope)
  await expect(clientOf(http, reader).callTool('erase', { all: false })).resolves.toMatchObject({
    content: [{ text: 'erased' }],
  })
  const writer = await real.issue({ ...job, resource, scope: 'items:read items:write' })
  await expect(clientOf(http, writer).callTool('update', {})).resolves.toMatchObject({ content: [{ text: 'updated' }] })
  await expect(clientOf(http, writer).callTool('erase', { all: true })).resolves.toMatchObject({
    content: [{ text: 'erased' }],
  })
})

test('an opaque token is introspected, until it is revoked [AUE-010]', async () => {
  await using http = await serveProtected(opaque)
  const token = await real.issue({ ...job, resource: opaque, scope: 'items:read' })
  // By this mark the search after a test run finds it in any output.
  expect(token).toMatch(/^canary-ClientCredentials-/)
  await expect(clientOf(http, token).callTool('who_am_i', {})).resolves.toMatchObject({
    content: [{ text: 'job by job' }],
  })
  const revoke = async (revoked: string) => {
    const authorization = `Basic ${btoa(`${job.id}:${job.secret}`)}`
    const body = new URLSearchParams({ token: revoked })
    return fetch(new URL('/token/revocation', real.issuer), { method: 'POST', body, headers: { authorization } })
  }
  const other = await real.issue({ ...job, resource: opaque, scope: 'items:read' })
  expect((await revoke(other)).status).toBe(200)
  await expect(clientOf(http, other).callTool('who_am_i', {})).rejects.toMatchObject(notValid)
})

test('a token that a real server bound to a key needs a proof of it [AUE-012 AUE-013]', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const proofFor = (htu: string, claims = {}) =>
    new SignJWT({ jti: randomUUID(), htm: 'POST', htu, ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(privateKey)
  const headers = { DPoP: await proofFor(`${real.issuer}/token`) }
  const token = await real.issue({ ...job, resource, scope: 'items:read', headers })
  const auth = protect({ resource, issuers: [real.issuer], dpop: 'accepted' })
  await using http = await serveHttp(server, { auth })
  const ath = createHash('sha256').update(token).digest('base64url')
  const dpop = await proofFor(resource, { ath })
  const connection = connectHttp(http.url, { headers: { authorization: `DPoP ${token}`, dpop } })
  const client = createClient(connection, { name: 'test', version: '1.0.0' })
  await expect(client.callTool('who_am_i', {})).resolves.toMatchObject({ content: [{ text: 'job by job' }] })
  await expect(clientOf(http, token).callTool('who_am_i', {})).rejects.toMatchObject(notValid)
})

test('the way from the first 401 to the metadata needs no token [AUT-006 AUD-005 AUD-001]', async () => {
  await using http = await serveProtected()
  const refused = await fetch(http.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{}',
  })
  expect(refused.status).toBe(401)
  const [, url = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  const metadata = await fetch(new URL(new URL(url).pathname, http.url))
  expect(await metadata.json()).toMatchObject({ resource, authorization_servers: [real.issuer] })
})

async function statusOf({ port }: HttpServer, headers: readonly string[]): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  const head = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
  ]
  socket.write([...head, ...headers, 'Content-Length: 2', 'Connection: close', '', '{}'].join('\r\n'))
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return Number(answer.split(' ')[1])
}

test('two Authorization headers are 400, though Node shows but the first; a megabyte is not read [AUE-004]', async () => {
  await using http = await serveProtected()
  const token = await real.issue({ ...job, resource, scope: 'items:read' })
  expect(await statusOf(http, [`Authorization: Bearer ${token}`, `authorization: Bearer ${token}`])).toBe(400)
  expect(await statusOf(http, [`Authorization: Bearer ${token}`, 'AUTHORIZATION: Basic YTpi'])).toBe(400)
  expect(await statusOf(http, [`Authorization: Bearer ${'a'.repeat(1_000_000)}`])).toBe(431)
})

test('the authorization server ends with its process', async () => {
  await real.close()
  await expect(fetch(real.issuer)).rejects.toThrow('fetch failed')
})
