import { connectHttp } from '@x/transport-http/client'
import { createClient } from '@x/client'
import { isJsonObject, metaKeys } from '@x/schema'
import { type CryptoKey, decodeProtectedHeader, exportJWK, exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { callTool } from '../testing/call.ts'
import { createScriptedAuthorizationServer } from '../testing/scripted-as.ts'
import {
  callWithAuth,
  createTestEnvironment,
  rejectionOf,
  completeResponse,
  type TestEnvironment,
} from '../testing/world.ts'
import { clientCredentials, type ClientCredentialsOptions, type MachineAuth, workload } from './machine.ts'
import { memoryAuthStore } from './store.ts'

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const fields = (form: URLSearchParams): { scope: string; resource: string } => ({
  scope: form.get('scope') ?? '',
  resource: form.get('resource') ?? '',
})
const tokenRequests = (w: TestEnvironment) => w.authorizationServer.received.filter(({ path }) => path === '/token')

async function jobWorld(): Promise<
  TestEnvironment & { job(options?: Partial<ClientCredentialsOptions>): MachineAuth }
> {
  const world = await createTestEnvironment()
  world.authorizationServer.otherGrants.set('client_credentials', fields)
  const job = (options = {}): MachineAuth =>
    clientCredentials({
      issuer: world.authorizationServer.issuer,
      client: { id: 'job', secret: 'job-secret' },
      ...options,
    })
  return { ...world, job }
}

describe('clientCredentials', () => {
  test('gets a token with a secret, for the resource of the challenge, without a login [AUE-017 AUE-031]', async () => {
    await using w = await jobWorld()
    w.resource.metadata['resource'] = w.resource.origin
    expect(await callWithAuth(w.resource.url, w.job())).toMatchObject(completeResponse)
    const [request] = tokenRequests(w)
    expect(Object.fromEntries(request?.form ?? [])).toEqual({
      grant_type: 'client_credentials',
      resource: w.resource.origin,
    })
    expect(request?.headers.authorization).toBe(`Basic ${btoa('job:job-secret')}`)
    expect([w.authorizationServer.count('/authorize'), w.authorizationServer.count('/register')]).toEqual([0, 0])
  })

  test('sends a secret in the body where the server or the option says so', async () => {
    await using w = await jobWorld()
    const client = { id: 'job', secret: 'job-secret', method: 'client_secret_post' } as const
    await callWithAuth(w.resource.url, w.job({ client }))
    w.authorizationServer.metadata['token_endpoint_auth_methods_supported'] = ['client_secret_post']
    await callWithAuth(w.resource.url, w.job())
    expect(tokenRequests(w).map(({ form }) => form.get('client_secret'))).toEqual(['job-secret', 'job-secret'])
  })

  test.each([
    ['PEM text', async (key: CryptoKey) => exportPKCS8(key)],
    ['a JWK', async (key: CryptoKey) => exportJWK(key)],
    ['an imported key', async (key: CryptoKey) => key],
  ])(
    'signs with a key given as %s: issuer as audience, one minute, a jti of its own [AUE-017 AUE-022]',
    async (_, given) => {
      await using w = await jobWorld()
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
      const auth = w.job({ client: { id: 'job', key: { privateKey: await given(privateKey), keyId: 'one' } } })
      await callWithAuth(w.resource.url, auth)
      w.authorizationServer.expireTokens()
      await callWithAuth(w.resource.url, auth)
      const jtis: unknown[] = []
      for (const { form } of tokenRequests(w)) {
        const assertion = form.get('client_assertion') ?? ''
        const { payload } = await jwtVerify(assertion, publicKey, {
          audience: w.authorizationServer.issuer,
          issuer: 'job',
          subject: 'job',
        })
        expect(decodeProtectedHeader(assertion)).toMatchObject({ alg: 'ES256', kid: 'one' })
        expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(60)
        expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
        jtis.push(payload.jti)
      }
      expect([jtis.length, new Set(jtis).size, jtis.includes(undefined)]).toEqual([2, 2, false])
    },
  )

  test('declares the extension in every request of a client [AUE-018]', async () => {
    await using w = await jobWorld()
    const auth = w.job()
    await using connection = connectHttp(w.resource.url, { auth })
    const client = createClient(connection, { name: 'job', version: '1.0.0', capabilities: auth.capabilities })
    await client.callTool('greet', {})
    for (const { body } of w.resource.received.filter(({ path }) => path === '/mcp')) {
      const meta: unknown = JSON.parse(body).params['_meta']
      const capabilities = isJsonObject(meta) ? meta[metaKeys.clientCapabilities] : undefined
      expect(capabilities).toMatchObject({
        extensions: { 'io.modelcontextprotocol/oauth-client-credentials': {} },
      })
    }
  })

  test('obtains a new token before the last one ends, once for fifty calls at once [AUE-023]', async () => {
    await using w = await jobWorld()
    let time = Date.now()
    await using connection = connectHttp(w.resource.url, { auth: w.job({ runtime: { now: () => time } }) })
    await callTool(connection)
    time += 3_571_000
    w.authorizationServer.expireTokens()
    const calls = w.resource.count('/mcp')
    const results = await Promise.all(Array.from({ length: 50 }, () => callTool(connection)))
    for (const result of results) expect(result).toMatchObject(completeResponse)
    expect([w.resource.count('/mcp') - calls, tokenRequests(w).length]).toEqual([50, 2])
  })

  test('uses the last token while the authorization server is unreachable and the token has not ended [AUE-024]', async () => {
    await using w = await jobWorld()
    let time = Date.now()
    const auth = w.job({ runtime: { now: () => time } })
    await callWithAuth(w.resource.url, auth)
    time += 3_571_000
    w.authorizationServer.routes.set('/token', () => ({ status: 503 }))
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    time += 60_000
    w.authorizationServer.expireTokens()
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ code: 'server_unavailable' })
  })

  test('asks for the scopes of a 403 and the earlier ones, once [AUT-058]', async () => {
    await using w = await jobWorld()
    w.resource.metadata['scopes_supported'] = ['read']
    w.resource.requiredScopes.set('write', ['write'])
    const auth = w.job()
    await callWithAuth(w.resource.url, auth)
    expect(await callWithAuth(w.resource.url, auth, 'write')).toMatchObject(completeResponse)
    expect(tokenRequests(w).map(({ form }) => form.get('scope'))).toEqual(['read', 'read write'])
  })

  test('takes a 403 as the answer when the scopes were asked for already', async () => {
    await using w = await jobWorld()
    w.authorizationServer.otherGrants.set('client_credentials', (form) => ({ ...fields(form), scope: '' }))
    w.resource.requiredScopes.set('write', ['write'])
    const auth = w.job()
    for (const calls of [1, 2]) {
      const error = await rejectionOf(callWithAuth(w.resource.url, auth, 'write'))
      expect([calls, error]).toEqual([calls, expect.objectContaining({ name: 'HttpError', status: 403 })])
    }
    expect(tokenRequests(w).map(({ form }) => form.get('scope'))).toEqual([null, 'write'])
  })

  test('keeps no refresh token, asks for no offline access, and shares tokens over a store', async () => {
    await using w = await jobWorld()
    w.authorizationServer.metadata['scopes_supported'] = ['read', 'offline_access']
    w.resource.metadata['scopes_supported'] = ['read']
    const values: string[] = []
    const inner = memoryAuthStore()
    const store = { ...inner, set: (key: string, value: string) => (values.push(value), inner.set(key, value)) }
    await callWithAuth(w.resource.url, w.job({ store }))
    await callWithAuth(w.resource.url, w.job({ store }))
    expect(tokenRequests(w).map(({ form }) => form.get('scope'))).toEqual(['read'])
    expect(values.join('\n')).not.toContain('refresh-')
  })

  test('uses no token of another client in the same store', async () => {
    await using w = await jobWorld()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.job({ store }))
    await callWithAuth(w.resource.url, w.job({ store, client: { id: 'other', secret: 'other-secret' } }))
    expect(tokenRequests(w).map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${btoa('job:job-secret')}`,
      `Basic ${btoa('other:other-secret')}`,
    ])
  })

  test('gets a token before the first request when it is asked to', async () => {
    await using w = await jobWorld()
    const auth = w.job()
    await auth.login(w.resource.url)
    expect([w.resource.count('/mcp'), tokenRequests(w).length]).toEqual([1, 1])
  })

  test.each([
    ['refuses the client', { status: 401, body: { error: 'invalid_client' } }, 'token_rejected'],
    ['is unreachable', { status: 503 }, 'server_unavailable'],
    ['answers with a page', { body: '<html>' }, 'token_rejected'],
    ['redirects', { status: 302, headers: { location: '/other' } }, 'server_unavailable'],
    ['sends what is no token', { body: { access_token: 'a b', token_type: 'Bearer' } }, 'token_rejected'],
    ['sends a token of another kind', { body: { access_token: 'a', token_type: 'mac' } }, 'token_rejected'],
    ['binds a token to an unknown key', { body: { access_token: 'a', token_type: 'DPoP' } }, 'token_rejected'],
  ])('fails when the authorization server %s, after one request', async (_, reply, code) => {
    await using w = await jobWorld()
    w.authorizationServer.routes.set('/token', () => reply)
    const error = await rejectionOf(callWithAuth(w.resource.url, w.job()))
    expect(error).toMatchObject({ code })
    expect(tokenRequests(w)).toHaveLength(1)
    expect(JSON.stringify([String(error), error])).not.toContain('job-secret')
  })

  test('sends nothing to an authorization server that it was not given for (CVE-2026-104850) [AUR-020]', async () => {
    await using w = await jobWorld()
    await using evil = await createScriptedAuthorizationServer()
    w.resource.metadata['authorization_servers'] = [evil.issuer]
    const error = await rejectionOf(callWithAuth(w.resource.url, w.job()))
    expect(error).toMatchObject({ code: 'client_needed', issuer: evil.issuer })
    expect(error).toHaveProperty('message', expect.stringContaining(w.authorizationServer.issuer))
    expect(evil.received).toHaveLength(0)
  })

  test.each([
    ['no PEM', 'secret-key-text'],
    ['another PEM', ['BEGIN', 'END'].map((edge) => `-----${edge} EC PRIVATE KEY-----`).join('\nsecret-key-text\n')],
    ['a public JWK', { kty: 'EC', crv: 'P-256', x: 'secret-key-text', y: 'secret-key-text' }],
    ['no JWK', {}],
  ])('says that a key is %s, without showing it', async (_, privateKey) => {
    await using w = await jobWorld()
    const error = await rejectionOf(callWithAuth(w.resource.url, w.job({ client: { id: 'job', key: { privateKey } } })))
    expect(error).toMatchObject({ code: 'key_invalid' })
    expect(JSON.stringify([String(error), error, (error as Error).cause])).not.toContain('secret-key-text')
    expect(tokenRequests(w)).toHaveLength(0)
  })

  test('is refused for a client without a key or a secret', () => {
    const make = (): MachineAuth => clientCredentials({ issuer: 'https://a.example', client: { id: 'job' } })
    expect(make).toThrow(TypeError)
  })
})

describe('workload', () => {
  test('presents a fresh assertion of the workload for each token [AUE-021]', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.otherGrants.set(jwtBearer, fields)
    let read = 0
    const assertion = async (): Promise<string> => `assertion-${(read += 1)}\n`
    const auth = workload({ issuer: w.authorizationServer.issuer, client: { id: 'importer' }, assertion })
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    const sent = (assertion: string) => ({
      grant_type: jwtBearer,
      client_id: 'importer',
      resource: w.resource.url,
      assertion,
    })
    expect(tokenRequests(w).map(({ form }) => Object.fromEntries(form))).toEqual([
      sent('assertion-1'),
      sent('assertion-2'),
    ])
    expect(auth.capabilities).toEqual({ extensions: {} })
  })

  test.each(['invalid_grant', 'invalid_scope', 'unauthorized_client', 'unsupported_grant_type', 'use_dpop_nonce'])(
    'surfaces %s: nothing is tried again, and no other grant [AUE-021]',
    async (code) => {
      await using w = await createTestEnvironment()
      const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3In0.c2ln'
      const body = { error: code, error_description: `${jwt} will not do` }
      w.authorizationServer.otherGrants.set(jwtBearer, () => ({ status: 400, body }))
      const auth = workload({ issuer: w.authorizationServer.issuer, client: { id: 'importer' }, assertion: () => jwt })
      const error = await rejectionOf(callWithAuth(w.resource.url, auth))
      expect(error).toMatchObject({ code: 'token_rejected', error: code, issuer: w.authorizationServer.issuer })
      expect([
        tokenRequests(w).length,
        w.authorizationServer.count('/authorize'),
        w.authorizationServer.count('/register'),
      ]).toEqual([1, 0, 0])
      // A server shows the assertion that it refuses, which may be good elsewhere.
      expect(JSON.stringify([String(error), error])).not.toContain(jwt)
    },
  )

  test('says that an assertion is empty, and passes on why it could not be read', async () => {
    await using w = await createTestEnvironment()
    const auth = (assertion: () => string): MachineAuth =>
      workload({ issuer: w.authorizationServer.issuer, client: { id: 'importer' }, assertion })
    expect(
      await rejectionOf(
        callWithAuth(
          w.resource.url,
          auth(() => ' \n'),
        ),
      ),
    ).toMatchObject({ code: 'client_needed' })
    const unreadable = auth(() => {
      throw new Error('no such file')
    })
    expect(await rejectionOf(callWithAuth(w.resource.url, unreadable))).toMatchObject({ message: 'no such file' })
    expect(tokenRequests(w)).toHaveLength(0)
  })
})
