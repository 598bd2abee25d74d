import { describe, expect, test } from 'vitest'
import { createScriptedAuthorizationServer } from '../testing/scripted-as.ts'
import {
  callWithAuth,
  createTestEnvironment,
  rejectionOf,
  completeResponse,
  type TestEnvironment,
} from '../testing/world.ts'
import { pageRedirect } from './page-redirect.ts'
import { memoryAuthStore } from './store.ts'

const secretsOf = (w: TestEnvironment): readonly string[] =>
  w.authorizationServer.received.flatMap(({ headers, form }) => [
    ...['refresh_token', 'code', 'code_verifier', 'client_secret'].flatMap((name) => form.get(name) ?? []),
    ...(headers.authorization === undefined ? [] : [headers.authorization]),
  ])

describe('A server that names another authorization server', () => {
  test('has everything begun anew there: no client, token or secret of the first arrives at the second [AUD-003 AUD-004 AUR-017 AUR-018 AUR-019 AUT-044]', async () => {
    await using w = await createTestEnvironment()
    await using other = await createScriptedAuthorizationServer()
    w.authorizationServer.metadata['token_endpoint_auth_methods_supported'] = ['client_secret_post']
    w.authorizationServer.routes.set('/register', () => ({
      status: 201,
      body: { client_id: 'first-client', client_secret: 'first-secret' },
    }))
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    w.resource.metadata['authorization_servers'] = [other.issuer]
    w.resource.acceptedServers = [other]
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(other.count('/register')).toBe(1)
    const secrets = ['first-client', ...secretsOf(w)]
    expect(secrets).toContain('first-secret')
    for (const secret of secrets) expect(other.describeRequests()).not.toContain(secret)
  })

  test('gets an error when the client is registered with the first alone: nothing of it is sent (CVE-2026-104850) [AUR-020]', async () => {
    await using w = await createTestEnvironment()
    await using evil = await createScriptedAuthorizationServer()
    const registrations = [
      { issuer: w.authorizationServer.issuer, id: 'registered-client', secret: 'registered-secret' },
    ]
    const auth = w.createOAuth({ client: { name: 'test', registrations } })
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    w.resource.metadata['authorization_servers'] = [evil.issuer]
    const error = await rejectionOf(callWithAuth(w.resource.url, auth))
    expect(error).toMatchObject({ code: 'client_needed', issuer: evil.issuer })
    expect(error).toHaveProperty('message', expect.stringContaining(w.authorizationServer.issuer))
    for (const secret of ['registered', ...secretsOf(w)]) expect(evil.describeRequests()).not.toContain(secret)
    expect(evil.count('/token')).toBe(0)
  })

  test('cannot have the refresh token sent there by metadata that copies the issuer of the first', async () => {
    await using w = await createTestEnvironment()
    await using evil = await createScriptedAuthorizationServer()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    evil.metadata['issuer'] = w.authorizationServer.issuer
    w.resource.metadata['authorization_servers'] = [evil.issuer]
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ code: 'issuer_mismatch' })
    expect(evil.received.map(({ method }) => method)).toEqual(['GET'])
  })

  test('keeps the login of the first for its return', async () => {
    await using w = await createTestEnvironment()
    await using other = await createScriptedAuthorizationServer()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    w.resource.metadata['authorization_servers'] = [other.issuer]
    w.resource.acceptedServers = [other]
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    w.resource.metadata['authorization_servers'] = [w.authorizationServer.issuer]
    w.resource.acceptedServers = [w.authorizationServer]
    expect(await callWithAuth(w.resource.url, w.createOAuth({ store }))).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(2)
  })
})

describe('An address in metadata', () => {
  test.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    '  javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'http://auth.example.com/authorize',
    'https://a:b@auth.example.com/authorize',
    'authorize',
    '-flag',
    '$(touch /tmp/x)',
  ])('%s is nowhere to send a person to (CVE-2025-6514) [AUE-028 AUS-007]', async (address) => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['authorization_endpoint'] = address
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'unsafe_url' })
    expect(w.browser.visited).toHaveLength(0)
  })

  test.each(['token_endpoint', 'registration_endpoint'])('of plain http is no %s [AUE-027 AUS-007]', async (name) => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata[name] = 'http://auth.example.com/x'
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'unsafe_url' })
  })

  test('of plain http that a login does not use stops the request that would use it', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['revocation_endpoint'] = 'http://auth.example.com/x'
    const auth = w.createOAuth()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(await rejectionOf(auth.logout(w.resource.url))).toMatchObject({ cause: { code: 'unsafe_url' } })
  })

  test.each(['http://127.0.0.1:1/x', 'https://localhost/x', 'https://[::1]/x', 'http://a.localhost/x'])(
    'of this machine, %s, is not taken from a server elsewhere [AUE-027]',
    async (address) => {
      await using w = await createTestEnvironment()
      const asked: string[] = []
      const fetch = async (url: string): Promise<Response> => {
        asked.push(url)
        return Response.json({ resource: 'https://mcp.example.com', authorization_servers: [address] })
      }
      const auth = w.createOAuth({ fetch })
      expect(await rejectionOf(auth.login('https://mcp.example.com/mcp'))).toMatchObject({ code: 'unsafe_url' })
      const metadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'
      expect(asked).toEqual(['https://mcp.example.com/mcp', metadataUrl])
    },
  )

  test('of this machine is not taken from a server elsewhere after a login on this machine has used it [AUE-027]', async () => {
    await using w = await createTestEnvironment()
    const { issuer } = w.authorizationServer
    const fetchDocument = (url: string, request: RequestInit): Promise<Response> =>
      url.startsWith('https://mcp.example.com/')
        ? Promise.resolve(Response.json({ resource: 'https://mcp.example.com', authorization_servers: [issuer] }))
        : fetch(url, request)
    const auth = w.createOAuth({ fetch: fetchDocument })
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    const requestCount = w.authorizationServer.received.length
    expect(await rejectionOf(auth.login('https://mcp.example.com/mcp'))).toMatchObject({ code: 'unsafe_url' })
    expect(w.authorizationServer.received).toHaveLength(requestCount)
  })

  test('that a challenge names is checked before it is read', async () => {
    await using w = await createTestEnvironment()
    const header = 'Bearer resource_metadata="file:///etc/passwd"'
    w.resource.routes.set('/mcp', () => ({ status: 401, headers: { 'www-authenticate': header } }))
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'unsafe_url' })
  })
})

describe('The answer of a login', () => {
  test.each([
    ['without iss though it was promised', (answer: URL) => answer.searchParams.delete('iss')],
    ['of another issuer', (answer: URL) => answer.searchParams.set('iss', 'https://evil.example.com')],
    ['with an empty iss', (answer: URL) => answer.searchParams.set('iss', '')],
    ['with a slash after iss', (answer: URL) => answer.searchParams.set('iss', `${answer.searchParams.get('iss')}/`)],
    ['with two iss', (answer: URL) => answer.searchParams.append('iss', 'https://evil.example.com')],
    ['without state', (answer: URL) => answer.searchParams.delete('state')],
    ['with another state', (answer: URL) => answer.searchParams.set('state', 'forged')],
    ['with two states', (answer: URL) => answer.searchParams.append('state', 'forged')],
    ['without a code', (answer: URL) => answer.searchParams.delete('code')],
    ['with two codes', (answer: URL) => answer.searchParams.append('code', 'other')],
  ])('%s is refused, and no code is sent [AUT-022 AUT-023 AUT-024 AUT-027 AUS-019 AUE-030]', async (_, change) => {
    await using w = await createTestEnvironment()
    w.browser.transformAnswer = (answer) => {
      change(answer)
      return answer
    }
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ name: 'AuthError' })
    expect(w.authorizationServer.count('/token')).toBe(0)
  })

  test.each([
    ['the right issuer', (w: TestEnvironment) => w.authorizationServer.issuer, true],
    ['none', () => undefined, true],
    ['another issuer', () => 'https://evil.example.com', false],
    ['the issuer in another case', (w: TestEnvironment) => w.authorizationServer.issuer.toUpperCase(), false],
  ])('may name %s where iss was not promised: %s [AUT-025 AUT-026 AUT-027]', async (_, iss, isUsed) => {
    await using w = await createTestEnvironment()
    delete w.authorizationServer.metadata['authorization_response_iss_parameter_supported']
    w.browser.transformAnswer = (answer) => {
      const value = iss(w)
      if (value === undefined) answer.searchParams.delete('iss')
      else answer.searchParams.set('iss', value)
      return answer
    }
    const outcome = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(outcome).toEqual(isUsed ? undefined : expect.objectContaining({ code: 'response_invalid' }))
  })

  test('that is an error is shown when it is the right server’s, and not when it is another’s [AUT-028]', async () => {
    await using w = await createTestEnvironment()
    const denied = (iss: string) => (answer: URL) => {
      const state = answer.searchParams.get('state') ?? ''
      return new URL(
        `?${new URLSearchParams({ error: 'access_denied', error_description: 'as announced', state, iss })}`,
        answer,
      )
    }
    w.browser.transformAnswer = denied(w.authorizationServer.issuer)
    const shown = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(shown).toMatchObject({ code: 'authorization_denied', error: 'access_denied' })
    w.browser.transformAnswer = denied('https://evil.example.com')
    const hidden = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(hidden).toMatchObject({ code: 'response_invalid', error: undefined })
    expect(hidden).toHaveProperty('message', expect.not.stringContaining('as announced'))
  })

  test('works once: replayed, it belongs to no login [AUE-030 AUT-019]', async () => {
    await using w = await createTestEnvironment()
    const redirect = pageRedirect({ uri: 'http://localhost:8080/callback' })
    const auth = w.createOAuth({ redirect })
    const needed = await rejectionOf(callWithAuth(w.resource.url, auth))
    expect(needed).toMatchObject({ code: 'authorization_needed' })
    const response = await fetch((needed as { url: URL }).url, { redirect: 'manual' })
    const answer = response.headers.get('location') ?? ''
    expect(await auth.finishLogin(answer)).toEqual({ url: w.resource.url })
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(await rejectionOf(auth.finishLogin(answer))).toMatchObject({ code: 'response_invalid' })
    expect(w.authorizationServer.count('/token')).toBe(1)
  })

  test('comes too late after ten minutes [AUE-030]', async () => {
    await using w = await createTestEnvironment()
    let time = Date.now()
    const redirect = pageRedirect({ uri: 'http://localhost:8080/callback' })
    const auth = w.createOAuth({ redirect, runtime: { now: () => time } })
    const needed = await rejectionOf(callWithAuth(w.resource.url, auth))
    const response = await fetch((needed as { url: URL }).url, { redirect: 'manual' })
    time += 600_001
    const late = auth.finishLogin(response.headers.get('location') ?? '')
    expect(await rejectionOf(late)).toMatchObject({ code: 'response_invalid' })
  })

  test('of a login that another person began is refused', async () => {
    await using w = await createTestEnvironment()
    const redirect = pageRedirect({ uri: 'http://localhost:8080/callback' })
    const needed = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ redirect })))
    const response = await fetch((needed as { url: URL }).url, { redirect: 'manual' })
    const other = w.createOAuth({ redirect }).finishLogin(response.headers.get('location') ?? '')
    expect(await rejectionOf(other)).toMatchObject({ code: 'response_invalid' })
  })
})

test('An error holds no token, code or secret that a server echoes', async () => {
  await using w = await createTestEnvironment()
  w.authorizationServer.metadata['token_endpoint_auth_methods_supported'] = ['client_secret_basic']
  w.authorizationServer.routes.set('/register', () => ({
    status: 201,
    body: { client_id: 'c', client_secret: 'the-secret' },
  }))
  w.authorizationServer.routes.set('/token', ({ form, headers }) => ({
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="${form.get('code')}"` },
    body: { error: 'invalid_client', authorization: headers.authorization },
  }))
  const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
  expect(error).toMatchObject({ code: 'token_rejected', error: 'invalid_client' })
  const text = JSON.stringify([String(error), error, (error as Error).cause])
  for (const secret of secretsOf(w)) expect(text).not.toContain(secret)
})

test.each(['http://example.com/callback', 'ftp://example.com/callback', 'app:/callback'])(
  'A redirect to %s is refused [AUS-009]',
  (uri) => {
    expect(() => pageRedirect({ uri })).toThrow(TypeError)
  },
)
