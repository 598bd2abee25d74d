import { AsyncLocalStorage } from 'node:async_hooks'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import { createProtectedServer } from '../testing/protected.ts'
import type { ScriptedAuthServer } from '@tooling/auth-server/scripted'

const fetched = ({ requests }: ScriptedAuthServer, path = '/jwks') => requests.filter((one) => one.path === path).length

test('a key that the issuer rotates is used with the next request [AUE-009]', async () => {
  await using server = await createProtectedServer()
  expect((await server.send(await server.issuer.sign())).status).toBe(200)
  await server.issuer.rotate()
  expect((await server.send(await server.issuer.sign({ claims: { sub: 'eve' } }))).status).toBe(200)
  expect(fetched(server.issuer)).toBe(2)
})

test('unknown keys are searched for four times in a row, then once in thirty seconds [AUE-009]', async () => {
  await using server = await createProtectedServer()
  const sign = (kid: string) => server.issuer.sign({ header: { kid } })
  expect((await server.send(await server.issuer.sign())).status).toBe(200)
  const responses: Response[] = []
  for (let number = 0; number < 20; number += 1) responses.push(await server.send(await sign(`made-up-${number}`)))
  expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, ...Array.from({ length: 16 }, () => 503)])
  expect(new Set(responses.slice(4).map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['30']))
  expect(fetched(server.issuer)).toBe(5)
  server.advanceTime(30_000)
  await Promise.all(Array.from({ length: 20 }, async (_, number) => server.send(await sign(`again-${number}`))))
  expect(fetched(server.issuer)).toBe(6)
})

test('a key that is published after made-up keys were searched for is never 401, and used after the wait [AUE-009]', async () => {
  await using server = await createProtectedServer()
  expect((await server.send(await server.issuer.sign())).status).toBe(200)
  for (let number = 0; number < 6; number += 1)
    await server.send(await server.issuer.sign({ header: { kid: `made-up-${number}` } }))
  server.advanceTime(10_000)
  await server.issuer.rotate()
  const token = await server.issuer.sign()
  const early = await server.send(token)
  expect([early.status, early.headers.get('retry-after'), await early.json()]).toEqual([
    503,
    '20',
    expect.objectContaining({
      error: expect.objectContaining({ data: { reason: 'unavailable', retryAfterMs: 20_000, begun: false } }),
    }),
  ])
  server.advanceTime(20_000)
  expect((await server.send(token)).status).toBe(200)
})

test.each([
  ['without an id', undefined],
  ['with the id of the last one', 'same'],
])('a new key %s is used with the next request', async (_, kid) => {
  await using server = await createProtectedServer()
  const publish = () => server.issuer.answer('/jwks', { json: { keys: [{ ...server.issuer.publicJwk, kid }] } })
  const sign = () => server.issuer.sign({ header: { kid } })
  publish()
  expect((await server.send(await sign())).status).toBe(200)
  await server.issuer.rotate()
  publish()
  expect((await server.send(await sign())).status).toBe(200)
  expect(fetched(server.issuer)).toBe(2)
})

test('changed tokens are 401, and let keys be searched for once in thirty seconds', async () => {
  await using server = await createProtectedServer()
  for (let number = 0; number < 20; number += 1) {
    const token = await server.issuer.sign({ claims: { sub: `user-${number}` } })
    expect((await server.send(`${token.slice(0, -8)}AAAAAAAA`)).status).toBe(401)
  }
  expect(new Set(server.listErrorCodes())).toEqual(new Set(['invalid_signature']))
  expect(fetched(server.issuer)).toBe(1)
  server.advanceTime(30_000)
  for (let number = 0; number < 20; number += 1) await server.send(`${await server.issuer.sign()}AAAA`)
  expect(fetched(server.issuer)).toBe(2)
})

test('a second rotation within thirty seconds is used with the next request [AUE-009]', async () => {
  await using server = await createProtectedServer()
  for (let rotation = 0; rotation < 3; rotation += 1) {
    await server.issuer.rotate()
    expect((await server.send(await server.issuer.sign())).status).toBe(200)
  }
})

test('a token with a key that a search did not find is 401 again, without another search [AUE-009]', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign({ header: { kid: 'removed' } })
  expect((await server.send(token)).status).toBe(401)
  expect((await server.send(token)).status).toBe(401)
  expect(fetched(server.issuer)).toBe(1)
  expect(server.listErrorCodes()).toEqual(['unknown_key', 'unknown_key'])
})

test('keys are fetched in the async context of no request', async () => {
  const storage = new AsyncLocalStorage<string>()
  const seen = new Set<string | undefined>()
  await using server = await createProtectedServer({
    fetch: (url, request) => {
      seen.add(storage.getStore())
      return fetch(url, request)
    },
  })
  const token = await server.issuer.sign()
  expect((await storage.run('ada', () => server.send(token))).status).toBe(200)
  expect(seen).toEqual(new Set([undefined]))
})

test('requests that come together fetch keys once', async () => {
  await using server = await createProtectedServer()
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, index) => server.issuer.sign({ claims: { sub: `u${index}` } })),
  )
  const responses = await Promise.all(tokens.map((token) => server.send(token)))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  expect([fetched(server.issuer), fetched(server.issuer, '/.well-known/oauth-authorization-server')]).toEqual([1, 1])
})

test('a key that the issuer took back is not believed for longer than ten minutes', async () => {
  await using server = await createProtectedServer({ cacheMs: 0 })
  const token = await server.issuer.sign({ claims: { exp: Math.floor(Date.now() / 1000) + 7200 } })
  expect((await server.send(token)).status).toBe(200)
  await server.issuer.rotate()
  server.advanceTime(599_000)
  expect((await server.send(token)).status).toBe(200)
  server.advanceTime(1000)
  expect((await server.send(token)).status).toBe(401)
})

test('during an outage the last keys are used for a day, then the answer is 503 and never 401 [AUE-005]', async () => {
  await using server = await createProtectedServer({ cacheMs: 0 })
  const token = await server.issuer.sign({ claims: { exp: Math.floor(Date.now() / 1000) + 200_000 } })
  expect((await server.send(token)).status).toBe(200)
  server.issuer.break(true)
  server.advanceTime(600_000)
  expect((await server.send(token)).status).toBe(200)
  server.advanceTime(85_000_000)
  expect((await server.send(token)).status).toBe(200)
  server.advanceTime(800_000)
  expect((await server.send(token)).status).toBe(503)
  expect(new Set(server.listErrorCodes())).toEqual(new Set(['issuer_unavailable']))
})

test('an unreachable issuer is tried again after 1, 2, 4 … 30 seconds, and no request waits meanwhile', async () => {
  let isReachable = false
  let attempts = 0
  await using server = await createProtectedServer({
    fetch: async (url, request) => {
      attempts += 1
      if (!isReachable) throw new Error('unreachable')
      return fetch(url, request)
    },
  })
  const token = await server.issuer.sign()
  for (const waitSeconds of [1, 2, 4, 8, 16, 30, 30]) {
    const attemptsBefore = attempts
    const responses = [await server.send(token), await server.send(token)]
    expect(responses.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [503, String(waitSeconds)],
      [503, String(waitSeconds)],
    ])
    expect(attempts).toBe(attemptsBefore + 1)
    server.advanceTime(waitSeconds * 1000)
  }
  isReachable = true
  expect((await server.send(token)).status).toBe(200)
})

test('an outage of the issuer is one line in a minute', async () => {
  await using server = await createProtectedServer()
  server.issuer.break(true)
  const token = await server.issuer.sign()
  for (let second = 0; second < 120; second += 1) {
    expect((await server.send(token)).status).toBe(503)
    server.advanceTime(1000)
  }
  expect(server.errors).toHaveLength(2)
  expect(server.errors[0]).toMatchObject({ code: 'issuer_unavailable', cause: expect.any(Error) })
})

test('authentication is ready once one issuer was reached', async () => {
  await using server = await createProtectedServer({ issuers: (issuer) => ['http://127.0.0.1:9/', issuer] })
  server.issuer.break(true)
  const reported: unknown[] = []
  const report = (error: unknown): void => void reported.push(error)
  await expect(server.auth.ready({ report })).rejects.toMatchObject({ code: 'issuer_unavailable' })
  expect(reported).toContainEqual(expect.objectContaining({ code: 'issuer_unavailable' }))
  server.issuer.break(false)
  server.advanceTime(1000)
  await server.auth.ready()
  server.issuer.break(true)
  server.advanceTime(90_000_000)
  await server.auth.ready()
})

test('a new key that cannot be fetched because its issuer is away is 503 [AUE-005]', async () => {
  await using server = await createProtectedServer()
  expect((await server.send(await server.issuer.sign())).status).toBe(200)
  await server.issuer.rotate()
  const token = await server.issuer.sign()
  server.issuer.break(true)
  expect((await server.send(token)).status).toBe(503)
  expect((await server.send(token)).status).toBe(503)
  server.issuer.break(false)
  server.advanceTime(30_000)
  expect((await server.send(token)).status).toBe(200)
})

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const privateJwk = { ...(await exportJWK(privateKey)), kid: 'key-1' }

const metadata = '/.well-known/oauth-authorization-server'
test.each<[string, string, Parameters<ScriptedAuthServer['answer']>[1]]>([
  ['HTML', metadata, { body: '<html>Login</html>' }],
  ['HTML for keys', '/jwks', { body: '<html>Login</html>' }],
  ['a redirect', '/jwks', { body: '', status: 302, headers: { location: 'https://evil.example/jwks' } }],
  ['a failure', '/jwks', { body: 'no', status: 500 }],
  [
    'metadata of another issuer',
    metadata,
    { json: { issuer: 'https://evil.example', jwks_uri: 'https://evil.example/jwks' } },
  ],
  ['keys over http', metadata, { json: { issuer: '', jwks_uri: 'http://as.example/jwks' } }],
  ['no address of keys', metadata, { json: { issuer: '' } }],
  ['keys that are none', '/jwks', { json: { keys: 'none' } }],
  ['a key that is none', '/jwks', { json: { keys: [{ kty: 'EC', crv: 'P-256', kid: 'key-1', x: 'AA', y: 'AA' }] } }],
  ['a private key', '/jwks', { json: { keys: [privateJwk] } }],
  ['no key', '/jwks', { json: { keys: [] } }],
  ['a list for an object', '/jwks', { json: [] }],
  ['more than 256 KiB', '/jwks', { body: `{"keys":[],"a":"${'a'.repeat(300_000)}"}`, type: 'application/json' }],
  ['a connection that breaks', '/jwks', (request) => void request.socket.destroy()],
])('an issuer that answers with %s is as good as away [AUE-005]', async (_, path, answer) => {
  await using server = await createProtectedServer()
  const { issuer } = server.issuer
  const own = typeof answer === 'object' && 'json' in answer ? { json: withIssuer(answer.json, issuer) } : answer
  server.issuer.answer(path, own)
  const token = await server.issuer.sign()
  expect((await server.send(token)).status).toBe(503)
  expect(server.principals).toEqual([])
  server.issuer.answer(path, undefined)
  server.advanceTime(30_000)
  expect((await server.send(token)).status).toBe(200)
})

function withIssuer(json: unknown, issuer: string): unknown {
  return typeof json === 'object' && json !== null && 'issuer' in json && json.issuer === ''
    ? { ...json, issuer }
    : json
}

test('an issuer that never answers is waited for five seconds, once for all who ask', async () => {
  await using server = await createProtectedServer({
    fetch: (_, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  })
  const token = await server.issuer.sign()
  const responses = await Promise.all([
    server.send(token),
    server.send(await server.issuer.sign({ claims: { sub: 'b' } })),
  ])
  expect(responses.map(({ status }) => status)).toEqual([503, 503])
  expect((await server.send(token)).status).toBe(503)
})

test('metadata in the form of OpenID Connect is found when there is no other', async () => {
  await using server = await createProtectedServer()
  const { issuer } = server.issuer
  server.issuer.answer(metadata, { json: {}, status: 404 })
  server.issuer.answer('/.well-known/openid-configuration', { json: { issuer, jwks_uri: `${issuer}/jwks` } })
  expect((await server.send(await server.issuer.sign())).status).toBe(200)
})

test('the metadata of an issuer with a path is looked for in three forms, in order', async () => {
  const asked: string[] = []
  await using server = await createProtectedServer({
    issuers: () => ['https://as.example/tenant/'],
    fetch: async (url) => {
      asked.push(url)
      return new Response('', { status: 404 })
    },
  })
  await server.send(await server.issuer.sign({ claims: { iss: 'https://as.example/tenant/' } }))
  expect(asked).toEqual([
    'https://as.example/.well-known/oauth-authorization-server/tenant',
    'https://as.example/.well-known/openid-configuration/tenant',
    'https://as.example/tenant/.well-known/openid-configuration',
  ])
})

test('keys may have an address of their own', async () => {
  await using server = await createProtectedServer({ issuers: (issuer) => [{ issuer, jwksUri: `${issuer}/keys` }] })
  server.issuer.answer('/keys', { json: { keys: [server.issuer.publicJwk] } })
  expect((await server.send(await server.issuer.sign())).status).toBe(200)
  expect(server.issuer.requests.map(({ path }) => path)).toEqual(['/keys'])
})

test('a token that names no key is tried with the keys that fit', async () => {
  await using server = await createProtectedServer()
  const old = server.issuer.publicJwk
  await server.issuer.rotate()
  const { kid, ...nameless } = server.issuer.publicJwk
  server.issuer.answer('/jwks', { json: { keys: [old, nameless, { kty: 'oct', k: 'AAAA' }] } })
  expect(kid).toBe('key-2')
  expect((await server.send(await server.issuer.sign({ header: { kid: undefined } }))).status).toBe(200)
})
