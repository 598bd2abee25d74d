import { expect, test } from 'vitest'
import { protect } from '../server.ts'
import { createProtectedServer, resource, type ScriptedOptions } from '../testing/protected.ts'

const client = { id: 'items-server', secret: 'quite: secret' }
const options: ScriptedOptions = { issuers: (issuer) => [{ issuer, introspection: { client } }] }
const good = { active: true, aud: resource, sub: 'ada', client_id: 'cli', scope: 'items:read' }

test('an opaque token is good when its issuer says so, to a server that authenticates [AUE-010]', async () => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', { json: { ...good, exp: Math.floor(Date.now() / 1000) + 60 } })
  expect((await server.send('opaque-token')).status).toBe(200)
  expect(server.principals[0]).toMatchObject({ subject: 'ada', client: 'cli', scopes: ['items:read'] })
  const [asked] = server.issuer.requests.filter(({ path }) => path === '/introspect')
  expect(new URLSearchParams(asked?.body).get('token')).toBe('opaque-token')
  expect(Buffer.from(String(asked?.headers.authorization).slice(6), 'base64').toString()).toBe(
    'items-server:quite%3A+secret',
  )
})

test('a JWT of that issuer is asked about as well, since it may have been revoked', async () => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', { json: { active: false } })
  expect((await server.send(await server.issuer.sign())).status).toBe(401)
  expect(server.listErrorCodes()).toEqual(['inactive'])
})

const seconds = Math.floor(Date.now() / 1000)
test.each([
  ['inactive', { active: false }, 'inactive'],
  ['inactive, by a 401 of the demo of the official SDK', { active: false, error: 'Unauthorized' }, 'inactive', 401],
  ['without an audience', { ...good, aud: undefined }, 'wrong_audience'],
  ['for another', { ...good, aud: `${resource}/` }, 'wrong_audience'],
  ['for others', { ...good, aud: [`${resource}/`, 'x'] }, 'wrong_audience'],
  ['over', { ...good, exp: seconds - 60 }, 'expired'],
  ['not valid yet', { ...good, nbf: seconds + 60 }, 'not_yet_valid'],
  ['over at no time', { ...good, exp: 'soon' }, 'expired'],
  ['valid from no time', { ...good, nbf: 'soon' }, 'not_yet_valid'],
  ['of a user with a number for a name', { ...good, sub: 7 }, 'invalid_claim'],
  ['of another issuer', { ...good, iss: 'https://evil.example' }, 'invalid_claim'],
])('a token that is %s is refused [AUE-010]', async (_, json, code, status = 200) => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', { json, status })
  expect((await server.send('opaque')).status).toBe(401)
  expect([server.listErrorCodes(), server.principals]).toEqual([[code], []])
})

test('the result is cached for thirty seconds [AUE-010]', async () => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', { json: good })
  await Promise.all([server.send('opaque'), server.send('opaque')])
  server.advanceTime(29_000)
  expect((await server.send('opaque')).status).toBe(200)
  expect(server.issuer.requests.filter(({ path }) => path === '/introspect')).toHaveLength(1)
  server.issuer.answer('/introspect', { json: { active: false } })
  server.advanceTime(1000)
  expect((await server.send('opaque')).status).toBe(401)
})

test('a clock that is set back does not make the result last longer', async () => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', { json: good })
  expect((await server.send('opaque')).status).toBe(200)
  server.issuer.answer('/introspect', { json: { active: false } })
  server.changeClock(-3_600_000)
  expect((await server.send('opaque')).status).toBe(401)
})

test.each([
  ['fails', { body: 'no', status: 500 }],
  ['knows us not', { json: { error: 'invalid_client' }, status: 401 }],
  ['answers HTML', { body: '<html></html>' }],
  ['answers something else', { json: { ok: true } }],
  ['answers yes in a word', { json: { active: 'true' } }],
])('an issuer that %s is as good as away: 503 [AUE-005]', async (_, answer) => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', answer)
  const response = await server.send('opaque')
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([503, null])
  expect(server.listErrorCodes()).toEqual(['issuer_unavailable'])
  server.issuer.answer('/introspect', { json: good })
  expect((await server.send('opaque')).status).toBe(200)
})

test('made-up tokens of one address take nothing from good users of others, nor do good users of one address from each other', async () => {
  const running = { count: 0, madeUp: 0, maxCount: 0, maxMadeUp: 0 }
  await using server = await createProtectedServer({
    ...options,
    fetch: async (url, init) => {
      if (!url.endsWith('/introspect')) return fetch(url, init)
      const isGood = String(init.body).includes('good')
      running.count += 1
      if (!isGood) running.madeUp += 1
      running.maxCount = Math.max(running.maxCount, running.count)
      running.maxMadeUp = Math.max(running.maxMadeUp, running.madeUp)
      await new Promise((resolve) => setImmediate(resolve))
      running.count -= 1
      if (!isGood) running.madeUp -= 1
      return Response.json(isGood ? good : { active: false })
    },
  })
  const sendFrom = (address: string, token: string) => server.send(token, { headers: { 'x-client-address': address } })
  const numbers = Array.from({ length: 40 }, (_, number) => number)
  const greedy = Array.from({ length: 300 }, (_, number) => sendFrom('192.0.2.1', `made-up-${number}`))
  const good1 = numbers.map((number) => sendFrom(`198.51.100.${number}`, `good-${number}`))
  const good2 = numbers.map((number) => sendFrom('203.0.113.1', `good-behind-a-proxy-${number}`))
  const responses = await Promise.all([...good1, ...good2])
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  const rejections = await Promise.all(greedy)
  expect([running.maxCount <= 64, running.maxMadeUp]).toEqual([true, 8])
  expect(rejections.filter(({ status }) => status === 401)).toHaveLength(64)
  const limited = rejections.filter(({ status }) => status === 429)
  expect(limited).toHaveLength(236)
  expect([limited[0]?.headers.get('retry-after'), await limited[0]?.json()]).toEqual([
    '1',
    expect.objectContaining({
      error: expect.objectContaining({
        data: { reason: 'quota', limit: 'introspections', max: 64, retryAfterMs: 1000 },
      }),
    }),
  ])
})

test('a token that is not active is remembered for five seconds', async () => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', { json: { active: false } })
  const introspections = () => server.issuer.requests.filter(({ path }) => path === '/introspect').length
  for (let sent = 0; sent < 3; sent += 1) expect((await server.send('made-up')).status).toBe(401)
  expect(introspections()).toBe(1)
  server.advanceTime(5000)
  expect((await server.send('made-up')).status).toBe(401)
  expect(introspections()).toBe(2)
})

test('introspection is ready once its endpoint is known', async () => {
  await using server = await createProtectedServer(options)
  server.issuer.break(true)
  const report = (): void => {}
  await expect(server.auth.ready({ report })).rejects.toMatchObject({ code: 'issuer_unavailable' })
  server.issuer.break(false)
  await server.auth.ready({ report })
})

test('an endpoint that is not found is reported at the start, also beside an issuer that is reached', async () => {
  const misspelt = { issuer: 'http://127.0.0.1:9/', introspection: { client } }
  await using server = await createProtectedServer({ issuers: (issuer) => [issuer, misspelt] })
  const reported: unknown[] = []
  await server.auth.ready({ report: (error) => void reported.push(error) })
  expect(reported).toMatchObject([{ code: 'issuer_unavailable', issuer: misspelt.issuer }])
})

test('an answer that repeats the token leaves it out of the principal [AUE-008]', async () => {
  await using server = await createProtectedServer(options)
  server.issuer.answer('/introspect', { json: { ...good, access_token: 'opaque-canary', token: 'opaque-canary' } })
  await server.send('opaque-canary')
  expect(JSON.stringify(server.principals)).not.toContain('canary')
})

test('two issuers with introspection are refused: an opaque token does not name its issuer', () => {
  const issuers = ['https://a.example', 'https://b.example'].map((issuer) => ({ issuer, introspection: { client } }))
  expect(() => protect({ resource, issuers })).toThrow('Two issuers have introspection')
  const endpoint = 'http://a.example'
  expect(() =>
    protect({ resource, issuers: [{ issuer: 'https://a.example', introspection: { client, endpoint } }] }),
  ).toThrow('https')
})
