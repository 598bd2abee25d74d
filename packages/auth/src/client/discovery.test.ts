import { describe, expect, test } from 'vitest'
import { callWithAuth, createTestEnvironment, rejectionOf, completeResponse } from '../testing/world.ts'
import { memoryAuthStore } from './store.ts'

const resourcePath = '/.well-known/oauth-protected-resource'
const bare = { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: 'no' }

describe('The metadata of a resource', () => {
  test('is looked for at the path of the endpoint, then at the root, where the challenge names none [AUD-006 AUD-008]', async () => {
    await using w = await createTestEnvironment()
    const { routes } = w.resource
    const mcp = routes.get('/mcp')
    routes.set('/mcp', (one) => (one.headers.authorization === undefined || !mcp ? bare : mcp(one)))
    const metadata = routes.get(`${resourcePath}/mcp`)
    routes.delete(`${resourcePath}/mcp`)
    if (metadata) routes.set(resourcePath, metadata)
    expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
    const looked = w.resource.received.map(({ path }) => path).filter((path) => path !== '/mcp')
    expect(looked).toEqual([`${resourcePath}/mcp`, resourcePath])
  })

  test('that the challenge names is the only one that is read [AUD-007]', async () => {
    await using w = await createTestEnvironment()
    w.resource.routes.delete(`${resourcePath}/mcp`)
    w.resource.routes.set(resourcePath, () => ({ body: w.resource.metadata }))
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'metadata_invalid' })
    expect(w.resource.count(resourcePath)).toBe(0)
  })

  test.each([
    ['the endpoint', (origin: string) => `${origin}/mcp`, true],
    ['the origin', (origin: string) => origin, true],
    ['the origin with a slash', (origin: string) => `${origin}/`, true],
    ['a longer path', (origin: string) => `${origin}/mcp/admin`, false],
    ['a path with the same letters', (origin: string) => `${origin}/mc`, false],
    ['another origin', () => 'https://example.com/mcp', false],
    ['another port', () => 'http://127.0.0.1:1/mcp', false],
    ['a fragment', (origin: string) => `${origin}/mcp#a`, false],
    ['another query', (origin: string) => `${origin}/mcp?a=1`, false],
    ['credentials', (origin: string) => origin.replace('//', '//a:b@'), false],
    ['no URL', () => 'mcp', false],
  ])('may name %s as its resource: %s [AUD-015 AUE-002 AUT-033]', async (_, resource, isUsed) => {
    await using w = await createTestEnvironment()
    w.resource.metadata['resource'] = resource(w.resource.origin)
    const outcome = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(outcome).toEqual(isUsed ? undefined : expect.objectContaining({ code: 'resource_mismatch' }))
    expect(w.authorizationServer.received.length > 0).toBe(isUsed)
  })

  test.each([
    ['a redirect', { status: 302, headers: { location: 'http://localhost/elsewhere' } }, 'server_unavailable'],
    ['a page', { body: '<h1>hello' }, 'metadata_invalid'],
    ['more than 64 KiB', { body: { resource: 'x'.repeat(70_000) } }, 'server_unavailable'],
    ['an error', { status: 500 }, 'server_unavailable'],
    ['no authorization server', { body: {} }, 'resource_mismatch'],
  ])('that is %s ends the call with an error [AUE-027]', async (_, answer, code) => {
    await using w = await createTestEnvironment()
    w.resource.routes.set(`${resourcePath}/mcp`, () => answer)
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code })
  })
})

describe('A server of revision 2025-03-26, which has no metadata of its resource,', () => {
  /** The resource and the authorization server at one origin. */
  async function createOlderServer() {
    const w = await createTestEnvironment()
    const { routes } = w.resource
    const mcp = routes.get('/mcp')
    routes.set('/mcp', (one) => (one.headers.authorization === undefined || !mcp ? bare : mcp(one)))
    for (const path of [`${resourcePath}/mcp`, resourcePath]) routes.delete(path)
    for (const path of ['/authorize', '/token', '/register']) {
      const route = w.authorizationServer.routes.get(path)
      if (route !== undefined) routes.set(path, route)
    }
    w.browser.transformAnswer = (answer) => {
      answer.searchParams.delete('iss')
      return answer
    }
    return w
  }

  test('is its own authorization server, with the default endpoints where it has no metadata', async () => {
    await using w = await createOlderServer()
    expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
    expect(['/authorize', '/token', '/register'].map((path) => w.resource.count(path))).toEqual([1, 1, 1])
    expect(w.authorizationServer.received).toEqual([])
  })

  test('is its own authorization server, with the endpoints of its metadata', async () => {
    await using w = await createOlderServer()
    const { origin, routes } = w.resource
    const token = routes.get('/token')
    if (token !== undefined) routes.set('/issue', token)
    const metadata = { ...w.authorizationServer.metadata, issuer: origin, token_endpoint: `${origin}/issue` }
    routes.set('/.well-known/oauth-authorization-server', () => ({
      body: { ...metadata, authorization_response_iss_parameter_supported: false },
    }))
    expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
    expect([w.resource.count('/issue'), w.resource.count('/token')]).toEqual([1, 0])
  })

  test.each([
    ['its resource', resourcePath],
    ['its server', '/.well-known/oauth-authorization-server'],
  ])('is not asked for a login while the metadata of %s cannot be read', async (_title, path) => {
    await using w = await createOlderServer()
    w.resource.routes.set(path, () => ({ status: 503 }))
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({
      code: 'server_unavailable',
    })
    expect(w.resource.count('/register')).toBe(0)
  })

  test('gets no default endpoints where another origin names it', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.routes.delete('/.well-known/oauth-authorization-server')
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'metadata_invalid' })
    expect(w.authorizationServer.count('/register')).toBe(0)
  })
})

describe('The metadata of an authorization server', () => {
  test.each([
    ['', ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']],
    [
      '/tenant',
      [
        '/.well-known/oauth-authorization-server/tenant',
        '/.well-known/openid-configuration/tenant',
        '/tenant/.well-known/openid-configuration',
      ],
    ],
  ])(
    'is looked for in the order of the specification, with the path "%s" [AUT-009 AUD-010 AUD-011 AUD-012]',
    async (path, places) => {
      for (const [index, place] of places.entries()) {
        await using w = await createTestEnvironment()
        w.authorizationServer.routes.delete('/.well-known/oauth-authorization-server')
        w.authorizationServer.metadata['issuer'] = w.authorizationServer.issuer + path
        w.authorizationServer.metadata['authorization_response_iss_parameter_supported'] = false
        w.browser.transformAnswer = (answer) => {
          answer.searchParams.delete('iss')
          return answer
        }
        w.authorizationServer.routes.set(place, () => ({ body: w.authorizationServer.metadata }))
        w.resource.metadata['authorization_servers'] = [w.authorizationServer.issuer + path]
        expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
        const looked = w.authorizationServer.received
          .map((one) => one.path)
          .filter((one) => one.includes('.well-known'))
        expect(looked).toEqual(places.slice(0, index + 1))
      }
    },
  )

  test.each([
    ['another server', () => 'https://example.com'],
    ['itself in capitals', (issuer: string) => issuer.toUpperCase()],
    ['no document', () => undefined],
  ])('that names %s as its issuer is not used [AUD-013 AUD-014]', async (_, issuer) => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['issuer'] = issuer(w.authorizationServer.issuer)
    const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(error).toMatchObject({ code: 'issuer_mismatch' })
    const spelling = issuer(w.authorizationServer.issuer)
    const setting = spelling === undefined ? 'names no issuer' : `alias: "${spelling}"`
    expect(error).toHaveProperty('message', expect.stringContaining(setting))
    expect(String(error).includes('if you know')).toBe(spelling === 'https://example.com')
    expect(error).toHaveProperty('message', expect.stringContaining(`"${w.authorizationServer.issuer}"`))
    expect(w.authorizationServer.received.map(({ path }) => path)).toEqual(['/.well-known/oauth-authorization-server'])
  })

  test('is accepted by an option that exists alone', async () => {
    await using w = await createTestEnvironment()
    const options: object = { issuer: { [w.authorizationServer.issuer]: {} } }
    expect(() => w.createOAuth(options)).toThrow('oauth has no option `issuer`: did you mean `issuers`?')
  })

  test('may spell its issuer otherwise where the user vouches for it', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['issuer'] = `${w.authorizationServer.issuer}/`
    w.browser.transformAnswer = (answer) => {
      answer.searchParams.set('iss', `${w.authorizationServer.issuer}/`)
      return answer
    }
    const issuers = { [w.authorizationServer.issuer]: { alias: `${w.authorizationServer.issuer}/` } }
    expect(await callWithAuth(w.resource.url, w.createOAuth({ issuers }))).toMatchObject(completeResponse)
  })

  test.each([
    ['lists no method', undefined],
    ['lists plain alone', ['plain']],
  ])('that %s of PKCE ends the login [AUS-011 AUS-013 AUS-014 AUS-015]', async (_, methods) => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['code_challenge_methods_supported'] = methods
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'pkce_unsupported' })
    expect([w.browser.visited.length, w.authorizationServer.count('/register')]).toEqual([0, 0])
  })
})

describe('The client id', () => {
  const metadataUrl = 'https://client.example.com/client.json'

  test('is the registered one for this issuer, then the metadata document, then a registration [AUT-005 AUT-011 AUR-001 AUR-002 AUR-010 AUR-011]', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['client_id_metadata_document_supported'] = true
    const registrations = [{ issuer: w.authorizationServer.issuer, id: 'registered', secret: 'a-secret' }]
    await callWithAuth(w.resource.url, w.createOAuth({ client: { name: 'test', metadataUrl, registrations } }))
    await callWithAuth(w.resource.url, w.createOAuth({ client: { name: 'test', metadataUrl } }))
    w.authorizationServer.metadata['client_id_metadata_document_supported'] = false
    await callWithAuth(w.resource.url, w.createOAuth({ client: { name: 'test', metadataUrl } }))
    const ids = w.browser.visited.map((url) => url.searchParams.get('client_id'))
    expect(ids).toEqual(['registered', metadataUrl, expect.stringMatching(/^client-/)])
    expect(w.authorizationServer.count('/register')).toBe(1)
    const [first] = w.authorizationServer.received.filter(({ path }) => path === '/token')
    expect(first?.headers.authorization).toBe(`Basic ${btoa('registered:a-secret')}`)
  })

  test('is registered as native or web, with refresh tokens, without scopes [AUT-048 AUR-012 AUR-013]', async () => {
    await using w = await createTestEnvironment()
    w.resource.metadata['scopes_supported'] = ['read']
    await callWithAuth(w.resource.url, w.createOAuth())
    const registration = w.authorizationServer.received.find(({ path }) => path === '/register')
    expect(JSON.parse(registration?.body ?? '')).toEqual({
      client_name: 'test',
      redirect_uris: ['http://127.0.0.1:7777/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    })
  })

  test('is registered once for an issuer, and again when its secret has ended [AUR-017]', async () => {
    await using w = await createTestEnvironment()
    let time = Date.now()
    w.authorizationServer.metadata['token_endpoint_auth_methods_supported'] = ['client_secret_post']
    const secret = { client_secret: 's-1', client_secret_expires_at: Math.floor(time / 1000) + 60 }
    w.authorizationServer.routes.set('/register', () => ({ status: 201, body: { client_id: 'c', ...secret } }))
    const store = memoryAuthStore()
    const options = { store, runtime: { now: () => time } }
    const auth = w.createOAuth(options)
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    w.authorizationServer.expireLogins()
    await callWithAuth(w.resource.url, auth)
    expect([w.authorizationServer.count('/register'), w.browser.visited.length]).toEqual([1, 2])
    expect(w.authorizationServer.received.find(({ path }) => path === '/token')?.form.get('client_secret')).toBe('s-1')
    w.authorizationServer.expireTokens()
    w.authorizationServer.expireLogins()
    time += 61_000
    await callWithAuth(w.resource.url, w.createOAuth(options))
    expect(w.authorizationServer.count('/register')).toBe(2)
  })

  test('is taken from a registration that answers 200', async () => {
    await using w = await createTestEnvironment()
    w.authorizationServer.routes.set('/register', () => ({ status: 200, body: { client_id: 'c' } }))
    expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
  })

  test('that the server does not register ends the login with its reason [AUR-015 AUR-016]', async () => {
    await using w = await createTestEnvironment()
    const body = { error: 'invalid_redirect_uri', error_description: 'no loopbacks here' }
    w.authorizationServer.routes.set('/register', () => ({ status: 400, body }))
    const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(error).toMatchObject({ code: 'registration_rejected', error: 'invalid_redirect_uri' })
    expect(error).toHaveProperty('message', expect.stringContaining('no loopbacks here'))
  })

  test('that cannot be obtained ends the login with the way out', async () => {
    await using w = await createTestEnvironment()
    delete w.authorizationServer.metadata['registration_endpoint']
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({ code: 'client_needed' })
  })

  test.each(['http://example.com/client.json', 'https://example.com', 'client.json', 'https://a:b@example.com/c.json'])(
    'cannot be the metadata document %s [AUR-004 AUR-005]',
    async (address) => {
      await using w = await createTestEnvironment()
      expect(() => w.createOAuth({ client: { name: 'test', metadataUrl: address } })).toThrow(TypeError)
    },
  )
})
