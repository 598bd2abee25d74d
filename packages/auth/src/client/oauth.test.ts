import { connectHttp } from '@x/transport-http/client'
import { describe, expect, test, vi } from 'vitest'
import { callTool } from '../testing/call.ts'
import { callWithAuth, createTestEnvironment, rejectionOf, completeResponse } from '../testing/world.ts'
import { memoryAuthStore } from './store.ts'

describe('A login', () => {
  test('answers 401 with a token, which every later request carries [AUT-007 AUT-037 AUT-038 AUD-007 AUD-009 AUS-010]', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    await using connection = connectHttp(w.resource.url, { auth })
    expect(await callTool(connection)).toMatchObject(completeResponse)
    expect(await callTool(connection)).toMatchObject(completeResponse)
    expect([w.browser.visited.length, w.resource.count('/mcp')]).toEqual([1, 3])
    const [, second, third] = w.resource.received.filter(({ path }) => path === '/mcp')
    expect(second?.headers.authorization).toMatch(/^Bearer canary-access-/)
    expect(third?.headers.authorization).toBe(second?.headers.authorization)
    expect(w.resource.received.every(({ query }) => query.size === 0)).toBe(true)
  })

  test('asks with PKCE, state and the resource, and exchanges with the same resource [AUT-029 AUT-030 AUS-002 AUS-012 AUS-019 AUE-031]', async () => {
    await using w = await createTestEnvironment()
    w.resource.metadata['resource'] = w.resource.origin
    await callWithAuth(w.resource.url, w.createOAuth())
    const [asked] = w.browser.visited
    const { code_challenge_method, resource, response_type } = Object.fromEntries(asked?.searchParams ?? [])
    expect({ code_challenge_method, resource, response_type }).toEqual({
      code_challenge_method: 'S256',
      resource: w.resource.origin,
      response_type: 'code',
    })
    const exchange = w.authorizationServer.received.find(({ path }) => path === '/token')
    expect(exchange?.form.get('resource')).toBe(w.resource.origin)
    expect(asked?.searchParams.get('state')?.length).toBeGreaterThan(20)
  })

  test('that is asked for happens before the first call, with the scopes that this call would request', async () => {
    await using w = await createTestEnvironment()
    w.resource.metadata['scopes_supported'] = ['read', 'write']
    const serve = w.resource.routes.get('/mcp')
    const challenge = { status: 401, headers: { 'www-authenticate': 'Bearer scope="read"' } }
    w.resource.routes.set('/mcp', (received) =>
      received.headers.authorization === undefined ? challenge : (serve?.(received) ?? challenge),
    )
    const auth = w.createOAuth()
    await auth.login(w.resource.url)
    expect([w.browser.visited.length, w.browser.visited[0]?.searchParams.get('scope')]).toEqual([1, 'read'])
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.browser.visited.length).toBe(1)
  })

  test('is there for the next program that has the store [AUS-004]', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    expect(await callWithAuth(w.resource.url, w.createOAuth({ store }))).toMatchObject(completeResponse)
    expect([w.browser.visited.length, w.resource.count('/mcp')]).toEqual([1, 3])
  })

  test('ends with logout: the tokens are revoked, forgotten, and the next request carries none', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    const auth = w.createOAuth({ store })
    await callWithAuth(w.resource.url, auth)
    await auth.logout(w.resource.url)
    expect(
      w.authorizationServer.received
        .filter(({ path }) => path === '/revoke')
        .map(({ form }) => form.get('token_type_hint')),
    ).toEqual(['refresh_token', 'access_token'])
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    expect(w.browser.visited).toHaveLength(2)
  })

  test('is deleted by logout even when the server is unreachable, and logout rejects', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.routes.set('/revoke', () => ({ status: 503 }))
    expect(await rejectionOf(auth.logout(w.resource.url))).toMatchObject({ code: 'server_unavailable' })
    await callWithAuth(w.resource.url, auth)
    expect(w.browser.visited).toHaveLength(2)
  })

  test('uses pushed requests where the server requires them [AUE-032]', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['require_pushed_authorization_requests'] = true
    w.authorizationServer.metadata['pushed_authorization_request_endpoint'] = `${w.authorizationServer.issuer}/par`
    expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
    expect([...(w.browser.visited[0]?.searchParams.keys() ?? [])]).toEqual(['client_id', 'request_uri'])
  })

  test('leaves out resource where the user says that the server refuses it', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth({ issuers: { [w.authorizationServer.issuer]: { resource: 'omit' } } })
    await rejectionOf(callWithAuth(w.resource.url, auth))
    expect(w.browser.visited[0]?.searchParams.has('resource')).toBe(false)
    expect(w.authorizationServer.received.find(({ path }) => path === '/token')?.form.has('resource')).toBe(false)
  })

  test('whose token is refused a moment later ends with an error and no loop [AUE-026]', async () => {
    await using w = await createTestEnvironment()
    w.resource.acceptedServers = []
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'token_refused' })
    expect(w.browser.visited).toHaveLength(1)
  })

  test('is not begun for a server that wants a password', async () => {
    await using w = await createTestEnvironment()
    w.resource.routes.set('/mcp', () => ({
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="x"' },
      body: 'no',
    }))
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({
      name: 'HttpError',
      status: 401,
    })
    expect(w.browser.visited).toHaveLength(0)
  })
})

describe('A token that ended', () => {
  test('is refreshed before it is used, and the new refresh token is kept [AUT-049 AUE-031]', async () => {
    await using w = await createTestEnvironment()
    let time = Date.now()
    const auth = w.createOAuth({ runtime: { now: () => time } })
    for (let hours = 0; hours < 3; hours += 1) {
      expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
      time += 3_600_000
      w.authorizationServer.expireTokens()
    }
    expect([w.browser.visited.length, w.authorizationServer.count('/token')]).toEqual([1, 3])
    const refreshes = w.authorizationServer.received.filter(({ form }) => form.get('grant_type') === 'refresh_token')
    expect(refreshes.map(({ form }) => form.get('resource'))).toEqual([w.resource.url, w.resource.url])
  })

  test('is refreshed after 401 when its lifetime is unknown', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.expiresIn = undefined
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(1)
  })

  test('leads to a new login when the refresh token is over as well', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    w.authorizationServer.expireLogins()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(2)
  })

  test.each([
    ['is unreachable', () => ({ status: 503 })],
    ['limits requests', () => ({ status: 429 })],
    ['answers with a page', () => ({ status: 500, body: '<h1>oops' })],
    ['is busy', () => ({ status: 400, body: { error: 'temporarily_unavailable' } })],
    ['answers nonsense', () => ({ body: '<h1>welcome' })],
    ['redirects', () => ({ status: 302, headers: { location: 'https://example.com/' } })],
  ])('is kept while the authorization server %s, and the call fails [AUE-024]', async (_, answer) => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    const token = w.authorizationServer.routes.get('/token')
    w.authorizationServer.routes.set('/token', answer)
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ name: 'AuthError' })
    if (token) w.authorizationServer.routes.set('/token', token)
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(1)
  })

  test('is not refreshed for each call when it lives for seconds', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.expiresIn = 20
    const auth = w.createOAuth()
    for (let calls = 0; calls < 3; calls += 1)
      expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.authorizationServer.count('/token')).toBe(1)
  })

  test('is used to its end while the authorization server is unreachable', async () => {
    await using w = await createTestEnvironment()
    let time = Date.now()
    const auth = w.createOAuth({ runtime: { now: () => time } })
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.routes.set('/token', () => ({ status: 503 }))
    time += 3_590_000
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
  })
})

describe('Scopes', () => {
  test('that a tool needs are asked for together with those from before [AUT-014 AUT-015 AUT-058 AUT-059]', async () => {
    await using w = await createTestEnvironment()
    w.resource.metadata['scopes_supported'] = ['read']
    w.resource.requiredScopes.set('update', ['write'])
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    expect(await callWithAuth(w.resource.url, auth, 'update')).toMatchObject(completeResponse)
    expect(w.browser.visited.map((url) => url.searchParams.get('scope'))).toEqual(['read', 'read write'])
    expect(w.authorizationServer.received.some(({ form }) => form.get('grant_type') === 'refresh_token')).toBe(false)
  })

  test('of the challenge win over those that the resource lists [AUT-013 AUT-017 AUT-018]', async () => {
    await using w = await createTestEnvironment()
    w.resource.metadata['scopes_supported'] = ['read', 'write', 'admin']
    const mcp = w.resource.routes.get('/mcp')
    w.resource.routes.set('/mcp', (one) =>
      one.headers.authorization === undefined || mcp === undefined
        ? { status: 401, headers: { 'www-authenticate': 'Bearer scope="read"' } }
        : mcp(one),
    )
    expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
    expect(w.browser.visited[0]?.searchParams.get('scope')).toBe('read')
  })

  test('are asked for at most twice for an operation that is never content, and then 403 is the answer [AUT-060 AUE-026]', async () => {
    await using w = await createTestEnvironment()
    w.resource.metadata['scopes_supported'] = ['read']
    let more = 0
    const mcp = w.resource.routes.get('/mcp')
    w.resource.routes.set('/mcp', (one) => {
      more += 1
      const header = `Bearer error="insufficient_scope", scope="s${more}"`
      return one.headers.authorization === undefined && mcp
        ? mcp(one)
        : { status: 403, headers: { 'www-authenticate': header }, body: 'no' }
    })
    const auth = w.createOAuth()
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ name: 'HttpError', status: 403 })
    expect(w.browser.visited).toHaveLength(3)
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ status: 403 })
    expect(w.browser.visited).toHaveLength(3)
  })

  test('that sixty tools ask for, each one more, cause at most eight logins in five minutes', async () => {
    let time = Date.now()
    await using w = await createTestEnvironment()
    const auth = w.createOAuth({ runtime: { now: () => time } })
    for (let tool = 0; tool < 60; tool += 1) {
      w.resource.requiredScopes.set(`tool-${tool}`, [`scope-${tool}`])
      await callWithAuth(w.resource.url, auth, `tool-${tool}`).catch(() => undefined)
    }
    expect(w.browser.visited).toHaveLength(8)
    expect(await rejectionOf(callWithAuth(w.resource.url, auth, 'tool-59'))).toMatchObject({ status: 403 })
    time += 300_000
    expect(await callWithAuth(w.resource.url, auth, 'tool-59')).toMatchObject(completeResponse)
  })

  test('without end are refused', async () => {
    await using w = await createTestEnvironment()
    w.resource.metadata['scopes_supported'] = Array.from({ length: 101 }, (_, index) => `scope${index}`)
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'too_many_scopes' })
    expect(w.browser.visited).toHaveLength(0)
  })

  test.each([
    [['offline_access'], 'read offline_access', 'consent'],
    [['read'], 'read', null],
    [undefined, 'read', null],
  ])('hold offline_access when the server lists it: %j [AUT-050]', async (listed, scope, prompt) => {
    await using w = await createTestEnvironment()
    w.resource.metadata['scopes_supported'] = ['read']
    if (listed) w.authorizationServer.metadata['scopes_supported'] = listed
    await callWithAuth(w.resource.url, w.createOAuth())
    const [asked] = w.browser.visited
    expect([asked?.searchParams.get('scope'), asked?.searchParams.get('prompt')]).toEqual([scope, prompt])
  })
})

describe('An authorization server', () => {
  test('that never answers ends the call after its time, and the next call logs in [AUE-027]', async () => {
    await using w = await createTestEnvironment()
    const place = '/.well-known/oauth-authorization-server'
    const metadata = w.authorizationServer.routes.get(place)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    w.authorizationServer.routes.set(place, () => {
      vi.advanceTimersByTime(5000)
      return new Promise<never>(() => {})
    })
    const auth = w.createOAuth()
    const error = await rejectionOf(callWithAuth(w.resource.url, auth))
    expect(error).toMatchObject({ code: 'server_unavailable' })
    expect(String(error)).toContain('did not answer within 5000 ms')
    vi.useRealTimers()
    if (metadata) w.authorizationServer.routes.set(place, metadata)
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
  })

  test('that is not there ends the call, and nothing is forgotten [AUE-024]', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    w.authorizationServer.expireTokens()
    const fetch = async (url: string, request: RequestInit): Promise<Response> => {
      if (url.startsWith(w.authorizationServer.issuer)) throw new TypeError('fetch failed')
      return globalThis.fetch(url, request)
    }
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ store, fetch })))).toMatchObject({
      code: 'server_unavailable',
    })
    expect(await callWithAuth(w.resource.url, w.createOAuth({ store }))).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(1)
  })

  test.each(['a\r\nb', 'a b', 'é'])('that gives the access token %j has it refused', async (token) => {
    await using w = await createTestEnvironment()
    w.authorizationServer.routes.set('/token', () => ({ body: { access_token: token, token_type: 'Bearer' } }))
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'token_rejected' })
  })
})
