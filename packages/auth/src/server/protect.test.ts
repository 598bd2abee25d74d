import { expect, test } from 'vitest'
import { isTokenError, protect, TokenError } from '../server.ts'
import { createProtectedServer, resource } from '../testing/protected.ts'

const metadata = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'

test('a call with a good token runs, as whom the token is about [AUT-040 AUT-045 AUS-025]', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign()
  expect((await server.send(token)).status).toBe(200)
  const [principal] = server.principals
  expect(principal).toMatchObject({
    subject: 'ada',
    client: 'cli',
    scopes: ['items:read'],
    issuer: server.issuer.issuer,
  })
  expect(principal?.expiresAt).toBeGreaterThan(Date.now())
  expect(JSON.stringify(principal)).not.toContain(token)
  expect([Object.isFrozen(principal), Object.isFrozen(principal?.claims), Object.isFrozen(principal?.scopes)]).toEqual([
    true,
    true,
    true,
  ])
  expect(server.errors).toEqual([])
})

test('the challenge of a call without a token names metadata and scopes, and no error [AUT-006 AUT-012 AUE-003 AUD-005]', async () => {
  await using server = await createProtectedServer()
  const response = await server.send()
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer scope="items:read", ${metadata}`,
  ])
  expect([server.principals, server.errors]).toEqual([[], []])
})

test('credentials of another scheme are as good as none', async () => {
  await using server = await createProtectedServer()
  for (const authorization of ['Basic YWRhOmx2bGM=', 'Negotiate', 'Bearers abc', 'DPoP-ish abc']) {
    const response = await server.send(undefined, { headers: { authorization } })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer scope="items:read", ${metadata}`,
    ])
  }
})

test.each([
  ['no token after the scheme', 'Bearer'],
  ['an empty token', 'Bearer '],
  ['two tokens in one header', 'Bearer a.b.c, Bearer d.e.f'],
  ['a token with a space', 'Bearer a b'],
  ['a token with quotes', 'Bearer "a"'],
  ['padding in the middle', 'Bearer a=b'],
  ['a token of more than 8 KiB', `Bearer ${'a'.repeat(8193)}`],
  ['a token of 1 MB', `Bearer ${'a'.repeat(1_000_000)}`],
  ['a megabyte of spaces', `Bearer ${' '.repeat(1_000_000)}a`],
  ['no scheme', '=?'],
])('%s is 400 invalid_request [AUE-004 AUT-052]', async (_, authorization) => {
  await using server = await createProtectedServer()
  const response = await server.send(undefined, { headers: { authorization } })
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    400,
    `Bearer error="invalid_request", ${metadata}`,
  ])
  expect([server.listErrorCodes(), server.principals]).toEqual([['invalid_request'], []])
})

test('a token in the query is not read, and one beside a header is a second [AUT-039 AUE-004]', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign()
  const url = `${resource}?access_token=${token}`
  expect((await server.send(undefined, { url })).status).toBe(401)
  expect((await server.send(token, { url })).status).toBe(400)
  expect((await server.send(token, { url: `${resource}?%61ccess_token=x&access_token=` })).status).toBe(400)
  expect((await server.send(token, { url: `${resource}?a=access_token=` })).status).toBe(200)
})

test('the scheme is matched in any case, and any number of spaces follows it', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign()
  for (const authorization of [`bearer ${token}`, `BEARER   ${token}`])
    expect((await server.send(undefined, { headers: { authorization } })).status).toBe(200)
})

test('the fault of a token is in the log alone [AUE-008]', async () => {
  await using server = await createProtectedServer()
  const bodies = new Set<string>()
  for (const claims of [{ aud: 'x' }, { exp: 1 }, { iss: 'https://evil.example' }]) {
    const token = await server.issuer.sign({ claims })
    const response = await server.send(token)
    bodies.add(JSON.stringify([response.status, [...response.headers], await response.text()]))
  }
  expect(bodies.size).toBe(1)
  expect(server.errors.every(isTokenError)).toBe(true)
})

test('a token that lacks what every request needs is 403 with all of that, each time the same [AUT-016 AUT-053 AUT-055 AUT-056]', async () => {
  await using server = await createProtectedServer({ scopes: ['items:read', 'items:list'] })
  const response = await server.send(await server.issuer.sign())
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    403,
    `Bearer error="insufficient_scope", scope="items:read items:list", ${metadata}`,
  ])
  const again = await server.send(await server.issuer.sign({ claims: { sub: 'eve', scope: 'items:list' } }))
  expect(again.headers.get('www-authenticate')).toBe(response.headers.get('www-authenticate'))
  expect(server.principals).toEqual([])
})

test('a scope includes what it implies, in any number of steps [AUT-061]', async () => {
  const impliedScopes = { 'items:admin': ['items:write'], 'items:write': ['items:read'], 'items:read': ['items:admin'] }
  await using server = await createProtectedServer({ impliedScopes })
  expect((await server.send(await server.issuer.sign({ claims: { scope: 'items:write' } }))).status).toBe(200)
  expect(server.principals[0]?.scopes).toEqual(['items:write', 'items:read', 'items:admin'])
  expect((await server.send(await server.issuer.sign({ claims: { scope: 'constructor' } }))).status).toBe(403)
})

test.each([
  [{ scope: undefined, scp: 'a items:read' }, ['a', 'items:read']],
  [{ scope: undefined, scp: ['items:read', 'b', 7] }, ['items:read', 'b']],
  [{ scope: '  items:read  c ' }, ['items:read', 'c']],
])('scopes are read from %j', async (claims, scopes) => {
  await using server = await createProtectedServer()
  await server.send(await server.issuer.sign({ claims }))
  expect(server.principals[0]?.scopes).toEqual(scopes)
})

test('a function of one’s own may reject a token, and its failure is a failure of the server', async () => {
  let error: Error = new TokenError('invalid_claim', 'Not one of our tenants')
  const toPrincipal = () => {
    throw error
  }
  await using server = await createProtectedServer({ toPrincipal })
  expect((await server.send(await server.issuer.sign())).status).toBe(401)
  error = new Error('broken')
  expect((await server.send(await server.issuer.sign())).status).toBe(500)
  expect(server.listErrorCodes()).toEqual(['invalid_claim', error])
})

test('an async toPrincipal runs once for each token, and its principal is cached with the token [AUT-104]', async () => {
  const asked: unknown[] = []
  await using server = await createProtectedServer({
    toPrincipal: async ({ sub }, issuer) => {
      asked.push(sub)
      await new Promise(setImmediate)
      return { subject: String(sub), issuer, scopes: ['items:read'], claims: { role: 'admin' } }
    },
  })
  const tokens = [await server.issuer.sign(), await server.issuer.sign({ claims: { sub: 'eve' } })]
  const sent = [...tokens, ...tokens, ...tokens].map((token) => server.send(token))
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect([asked.toSorted(), server.principals[0]?.claims]).toEqual([['ada', 'eve'], { role: 'admin' }])
})

test.each([
  ['rejects the token', new TokenError('invalid_claim', 'unknown user'), 401],
  ['cannot reach its database', new TokenError('issuer_unavailable', 'no database'), 503],
  ['cannot reach its store', Object.assign(new Error('no store'), { name: 'StateError', code: 'unavailable' }), 503],
  ['has a bug', new Error('broken'), 500],
])('an async toPrincipal that %s is asked again by the next request', async (_title, error, status) => {
  let isBroken = true
  await using server = await createProtectedServer({
    toPrincipal: async (_, issuer) => {
      if (isBroken) throw error
      return { subject: 'ada', issuer, scopes: ['items:read'] }
    },
  })
  const token = await server.issuer.sign()
  expect((await server.send(token)).status).toBe(status)
  isBroken = false
  expect((await server.send(token)).status).toBe(200)
})

test('a token is verified once, and never believed past its end', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign()
  const responses = await Promise.all([server.send(token), server.send(token), server.send(token)])
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(server.principals[1]).toBe(server.principals[0])
  server.advanceTime(299_000)
  expect((await server.send(token)).status).toBe(200)
  server.advanceTime(32_000)
  expect((await server.send(token)).status).toBe(401)
  expect(server.listErrorCodes()).toEqual(['expired'])
})

test('the expiry of the token decides where toPrincipal leaves it out, extends it or returns no time', async () => {
  for (const expiresAt of [undefined, Number.MAX_SAFE_INTEGER, Number.NaN]) {
    await using server = await createProtectedServer({
      toPrincipal: (_, issuer) => ({
        subject: 'ada',
        issuer,
        scopes: ['items:read'],
        ...(expiresAt !== undefined && { expiresAt }),
      }),
    })
    const exp = Math.floor(Date.now() / 1000) + 60
    const token = await server.issuer.sign({ claims: { exp } })
    expect((await server.send(token)).status).toBe(200)
    expect(server.principals[0]?.expiresAt).toBe(exp * 1000)
    server.advanceTime(91_000)
    expect((await server.send(token)).status).toBe(401)
  }
})

test('an option that does not exist is refused, with the one that was meant', () => {
  const options = { resource, issuers: ['https://as.example'], scope: ['read'] }
  expect(() => protect(options)).toThrow('protect has no option `scope`: did you mean `scopes`?')
})

test('a verified token is cached for five minutes at most', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign({ claims: { exp: Math.floor(Date.now() / 1000) + 7200 } })
  await server.send(token)
  server.advanceTime(300_000)
  await server.send(token)
  expect(server.principals).toHaveLength(2)
  expect(server.principals[1]).not.toBe(server.principals[0])
})

test('the cached principal of one user is never another’s with the same name [AUS-025]', async () => {
  await using server = await createProtectedServer()
  const subjects = Array.from({ length: 40 }, (_, index) => `user-${index}`)
  const tokens = await Promise.all(subjects.map((sub) => server.issuer.sign({ claims: { sub } })))
  for (let round = 0; round < 2; round += 1) {
    server.principals.length = 0
    for (const token of tokens) await server.send(token)
    expect(server.principals.map((principal) => principal?.subject)).toEqual(subjects)
  }
})

test('a connection that carries the tokens of several users mixes none up, and believes none past its end [AUS-025]', async () => {
  await using server = await createProtectedServer()
  const tokens = { ada: await server.issuer.sign(), bob: await server.issuer.sign({ claims: { sub: 'bob' } }) }
  const socket = {}
  const subjectOf = async (token: string): Promise<unknown> => {
    const headerValues = (): string[] => [`Bearer ${token}`]
    const result = await server.auth.authenticate({ method: 'POST', url: '/mcp', source: { socket }, headerValues })
    return 'subject' in result ? result.subject : result
  }
  for (const name of ['ada', 'ada', 'bob', 'bob', 'ada'] as const) expect(await subjectOf(tokens[name])).toBe(name)
  // The last header of the connection is not the verified one with a letter more or less.
  expect(await subjectOf(`${tokens.ada}x`)).toMatchObject({ status: 401 })
  expect(await subjectOf(tokens.ada)).toBe('ada')
  server.advanceTime(4_000_000)
  expect(await subjectOf(tokens.ada)).toMatchObject({ status: 401 })
})

test('a token of an issuer whose metadata cannot be reached is 503, without a challenge [AUE-005]', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign()
  server.issuer.break(true)
  const response = await server.send(token)
  expect([response.status, response.headers.get('www-authenticate'), response.headers.get('retry-after')]).toEqual([
    503,
    null,
    '1',
  ])
  expect(server.listErrorCodes()).toEqual(['issuer_unavailable'])
  server.issuer.break(false)
  server.advanceTime(30_000)
  expect((await server.send(token)).status).toBe(200)
})

test('the metadata is public JSON at the path of the resource and at the root [AUT-006 AUD-001 AUD-002 AUE-001]', async () => {
  const supportedScopes = ['items:read', 'items:write', 'offline_access']
  await using server = await createProtectedServer({ supportedScopes })
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
    const response = await server.handler(new Request(new URL(path, resource)))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await response.json()).toEqual({
      resource,
      authorization_servers: [server.issuer.issuer],
      scopes_supported: ['items:read', 'items:write'],
      bearer_methods_supported: ['header'],
    })
  }
})

test('offline_access is left out of challenges and metadata, since it is not a scope of the resource [AUT-051]', async () => {
  await using server = await createProtectedServer({ supportedScopes: ['offline_access'] })
  const documents = JSON.stringify(server.auth.documents)
  expect([documents.includes('offline_access'), documents.includes('scopes_supported')]).toEqual([false, false])
  expect(() => protect({ resource, issuers: ['https://as.example'], scopes: ['offline_access'] })).toThrow(
    'offline_access',
  )
})

test('the canonical URI has scheme and host in lower case, and no slash after a bare host [AUT-034 AUT-035]', () => {
  const resourceOf = (given: string) =>
    Object.values(protect({ resource: given, issuers: ['https://as.example'] }).documents)[0]?.body['resource']
  expect(resourceOf('HTTPS://MCP.Example.com/Mcp')).toBe('https://mcp.example.com/Mcp')
  expect(resourceOf('https://mcp.example.com/')).toBe('https://mcp.example.com')
  expect(resourceOf('https://mcp.example.com:8443')).toBe('https://mcp.example.com:8443')
})

const issuers = ['https://as.example']
test.each([
  ['a resource that is none', { resource: 'mcp.example.com', issuers }, 'write an absolute URL'],
  ['a resource over http', { resource: 'http://mcp.example.com', issuers }, 'only https is safe'],
  ['a resource with a fragment', { resource: `${resource}#`, issuers }, 'leave the fragment out'],
  ['a resource with a slash', { resource: `${resource}/`, issuers }, 'leave the slash at its end out'],
  ['no issuer', { resource, issuers: [] }, 'issuers is empty'],
  ['an issuer over http', { resource, issuers: ['http://as.example'] }, 'only https is safe'],
  ['an issuer twice', { resource, issuers: [...issuers, ...issuers] }, 'twice'],
  ['no audience', { resource, issuers: [{ issuer: 'https://as.example', audience: [] }] }, 'audience'],
  ['a secret', { resource, issuers: [{ issuer: 'https://as.example', algorithms: ['HS256'] }] }, 'HS256'],
  ['none', { resource, issuers: [{ issuer: 'https://as.example', algorithms: ['none'] }] }, 'none'],
  [
    'keys over http',
    { resource, issuers: [{ issuer: 'https://as.example', jwksUri: 'http://as.example' }] },
    'jwksUri',
  ],
  ['a scope with a quote', { resource, issuers, scopes: ['a"b'] }, 'visible ASCII'],
  ['a scope with a line end', { resource, issuers, scopes: ['a\r\nb'] }, 'visible ASCII'],
])('%s is refused when the server is made [AUS-007]', (_, options, message) => {
  expect(() => protect(options)).toThrow(message)
})
