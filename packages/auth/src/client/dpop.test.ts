import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, generateKeyPair } from 'jose'
import { connectHttp } from '@x/transport-http/client'
import { describe, expect, test } from 'vitest'
import { callTool } from '../testing/call.ts'
import type { ReceivedRequest } from '../testing/http-script.ts'
import { checkProof } from '../testing/proofs.ts'
import {
  callWithAuth,
  createTestDpop,
  createTestEnvironment,
  rejectionOf,
  completeResponse,
  type TestEnvironment,
} from '../testing/world.ts'
import { authorizedFetch } from './authorized-fetch.ts'
import { dpop } from './dpop.ts'
import { clientCredentials } from './machine.ts'
import { memoryAuthStore } from './store.ts'

async function dpopWorld(): Promise<TestEnvironment> {
  const world = await createTestEnvironment()
  world.authorizationServer.metadata['dpop_signing_alg_values_supported'] = ['RS256', 'ES256']
  return world
}

const received = (w: TestEnvironment, path: string): readonly ReceivedRequest[] =>
  [...w.authorizationServer.received, ...w.resource.received].filter((one) => one.path === path)
const jtisOf = (requests: readonly ReceivedRequest[]): readonly unknown[] =>
  requests.flatMap(({ headers }) => (headers.dpop === undefined ? [] : [decodeJwt(String(headers.dpop)).jti]))

describe('A token that is bound to a key', () => {
  test('is presented with the scheme DPoP and a fresh proof on every request [AUE-014]', async () => {
    await using w = await dpopWorld()
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth({ dpop: dpop() }) })
    for (let calls = 0; calls < 3; calls += 1) expect(await callTool(connection)).toMatchObject(completeResponse)
    const [first, ...others] = received(w, '/mcp')
    expect(first?.headers).not.toHaveProperty('dpop')
    expect(others.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill(expect.stringMatching(/^DPoP canary-access-/)),
    )
    const all = [...others, ...received(w, '/token')]
    const thumbprints = all.map(({ headers }) =>
      calculateJwkThumbprint(decodeProtectedHeader(String(headers.dpop)).jwk ?? {}),
    )
    expect(new Set(await Promise.all(thumbprints)).size).toBe(1)
    expect([all.length, new Set(jtisOf(all)).size]).toEqual([4, 4])
    const [key] = await Promise.all(thumbprints)
    expect(w.browser.visited[0]?.searchParams.get('dpop_jkt')).toBe(key)
  })

  test('is refreshed with a proof of the same key, by the next program that has the store as well', async () => {
    await using w = await dpopWorld()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop(), store }))
    w.authorizationServer.expireTokens()
    expect(await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop(), store }))).toMatchObject(completeResponse)
    expect([w.browser.visited.length, w.authorizationServer.count('/token')]).toEqual([1, 2])
  })

  test('has one key for all that share the store, when they begin at once', async () => {
    await using w = await dpopWorld()
    const store = memoryAuthStore()
    const login = (): Promise<unknown> => callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop(), store }))
    for (const result of await Promise.all([login(), login(), login()])) expect(result).toMatchObject(completeResponse)
    expect([w.browser.visited.length, w.authorizationServer.count('/token')]).toEqual([1, 1])
  })

  test('is not used where the key is lost: the person logs in again', async () => {
    await using w = await dpopWorld()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop(), store }))
    const keyPair = await generateKeyPair('ES256')
    expect(await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop({ keyPair }), store }))).toMatchObject(
      completeResponse,
    )
    // Nor is it sent as a bearer token, by a program without the key.
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ store })))).toBeUndefined()
    expect(
      received(w, '/mcp').filter(({ headers }) => headers.authorization?.startsWith('Bearer canary-access')),
    ).toHaveLength(1)
    expect(w.browser.visited).toHaveLength(3)
  })

  test.each(['', 'null', '{"x":"a","y":"b","d":"c"}', '{"x":1}'])(
    'is replaced when the store has %j for a key',
    async (broken) => {
      await using w = await dpopWorld()
      const store = memoryAuthStore()
      await store.set('key dpop', broken)
      expect(await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop(), store }))).toMatchObject(completeResponse)
    },
  )

  test('leaves the private key in no store that the program did not give, and in no request', async () => {
    await using w = await dpopWorld()
    const keyPair = await generateKeyPair('ES256', { extractable: false })
    const values: string[] = []
    const inner = memoryAuthStore()
    const store = { ...inner, set: (key: string, value: string) => (values.push(value), inner.set(key, value)) }
    await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop({ keyPair }), store }))
    expect(values.join('\n')).not.toContain('"d"')
    for (const { headers } of received(w, '/mcp').slice(1)) {
      expect(Object.keys(decodeProtectedHeader(String(headers.dpop)).jwk ?? {}).toSorted()).toEqual([
        'crv',
        'kty',
        'x',
        'y',
      ])
    }
  })

  test('is obtained by machines as well', async () => {
    await using w = await dpopWorld()
    w.authorizationServer.otherGrants.set('client_credentials', () => ({ scope: '', resource: w.resource.url }))
    const auth = clientCredentials({
      issuer: w.authorizationServer.issuer,
      client: { id: 'job', secret: 's' },
      dpop: dpop({ required: true }),
    })
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(received(w, '/mcp').at(-1)?.headers.authorization).toMatch(/^DPoP /)
  })

  test('proves the address that is fetched, and not the endpoint', async () => {
    await using w = await dpopWorld()
    const auth = w.createOAuth({ dpop: dpop() })
    await callWithAuth(w.resource.url, auth)
    w.resource.routes.set('/files/1', async (one) => ({
      body: await checkProof(one, {
        url: `${w.resource.origin}/files/1`,
        accessToken: one.headers.authorization?.slice(5),
        usedProofIds: new Set(),
      }),
    }))
    const answer = await authorizedFetch(auth, { endpoint: w.resource.url })(`${w.resource.origin}/files/1?part=2`)
    expect(await answer.json()).toHaveProperty('thumbprint')
  })
})

describe('A nonce', () => {
  test('of each server is taken, and the request is sent once more [AUE-015]', async () => {
    await using w = await dpopWorld()
    w.authorizationServer.nonce = 'nonce-of-as'
    w.resource.nonce = 'nonce-of-server'
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth({ dpop: dpop() }) })
    expect(await callTool(connection)).toMatchObject(completeResponse)
    expect(await callTool(connection)).toMatchObject(completeResponse)
    // Without a token, without a nonce, then with both. The second call has both at once.
    expect([w.authorizationServer.count('/token'), w.resource.count('/mcp'), w.browser.visited.length]).toEqual([
      2, 4, 1,
    ])
    const all = [...received(w, '/token'), ...received(w, '/mcp')]
    expect(new Set(jtisOf(all)).size).toBe(5)
    const nonces = all.flatMap(({ headers }) => (headers.dpop ? [decodeJwt(String(headers.dpop))['nonce']] : []))
    expect(nonces).toEqual([undefined, 'nonce-of-as', undefined, 'nonce-of-server', 'nonce-of-server'])
  })

  test('that changes is taken from the challenge, without a new token [AUE-015]', async () => {
    await using w = await dpopWorld()
    const auth = w.createOAuth({ dpop: dpop() })
    w.authorizationServer.nonce = w.resource.nonce = 'one'
    await callWithAuth(w.resource.url, auth)
    w.resource.nonce = 'two'
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    w.authorizationServer.nonce = 'two'
    w.authorizationServer.expireTokens()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect([w.authorizationServer.count('/token'), w.browser.visited.length]).toEqual([4, 1])
  })

  test('costs fifty calls at once one login, and none of them fails when it changes [AUE-015 AUE-023]', async () => {
    await using w = await dpopWorld()
    w.authorizationServer.nonce = w.resource.nonce = 'one'
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth({ dpop: dpop() }) })
    const fifty = (): Promise<unknown[]> => Promise.all(Array.from({ length: 50 }, () => callTool(connection)))
    for (const result of await fifty()) expect(result).toMatchObject(completeResponse)
    w.resource.nonce = 'two'
    for (const result of await fifty()) expect(result).toMatchObject(completeResponse)
    expect([w.browser.visited.length, w.authorizationServer.count('/token')]).toEqual([1, 2])
    const jtis = jtisOf([...w.authorizationServer.received, ...w.resource.received])
    expect(new Set(jtis).size).toBe(jtis.length)
  })

  test('that comes with a response is in the next proof', async () => {
    await using w = await dpopWorld()
    const mcp = w.resource.routes.get('/mcp')
    w.resource.routes.set('/mcp', async (one) => {
      const reply = (await mcp?.(one)) ?? {}
      return { ...reply, headers: { ...reply.headers, 'dpop-nonce': 'from-200' } }
    })
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth({ dpop: dpop() }) })
    await callTool(connection)
    w.resource.nonce = 'from-200'
    await callTool(connection)
    expect(w.resource.count('/mcp')).toBe(3)
  })

  test.each([
    ['is never right', (w: TestEnvironment) => (w.resource.nonce = 'x'.repeat(2000)), 'token_refused'],
    [
      'is not given',
      (w: TestEnvironment) => {
        const header = 'DPoP error="use_dpop_nonce"'
        refuseTokens(w, () => ({ 'www-authenticate': header }))
      },
      'token_refused',
    ],
    [
      'is another each time',
      (w: TestEnvironment) => {
        let count = 0
        const header = 'DPoP error="use_dpop_nonce"'
        refuseTokens(w, () => ({ 'www-authenticate': header, 'dpop-nonce': `nonce-${(count += 1)}` }))
      },
      'token_refused',
    ],
  ])('of the server that %s ends the call: no loop, and no further login', async (_, change, code) => {
    await using w = await dpopWorld()
    change(w)
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop() })))).toMatchObject({ code })
    expect([w.resource.count('/mcp') <= 3, w.browser.visited.length]).toEqual([true, 1])
  })

  test('of the authorization server that is another each time ends the login', async () => {
    await using w = await dpopWorld()
    let count = 0
    w.authorizationServer.routes.set('/token', () => ({
      status: 400,
      headers: { 'dpop-nonce': `nonce-${(count += 1)}` },
      body: { error: 'use_dpop_nonce' },
    }))
    const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop() })))
    expect(error).toMatchObject({ code: 'token_rejected', error: 'use_dpop_nonce' })
    expect(w.authorizationServer.count('/token')).toBe(2)
  })

  test('of a hundred servers and more takes no more memory than a hundred', () => {
    const dpop = createTestDpop()
    const at = (n: number): URL => new URL(`https://s${n}.example.com/`)
    for (let n = 0; n < 1000; n += 1) dpop.rememberNonce('resource', at(n), `nonce-${n}`)
    const stored = Array.from({ length: 1000 }, (_, n) => dpop.nonceOf('resource', at(n))).filter(Boolean)
    expect([stored.length, stored.at(-1), dpop.nonceOf('authorization', at(999))]).toEqual([
      100,
      'nonce-999',
      undefined,
    ])
  })

  test.each(['', 'a b', 'a"b', 'a\\b', 'ä', 'x'.repeat(1025)])('%j is none', (nonce) => {
    const dpop = createTestDpop()
    dpop.rememberNonce('resource', new URL('https://a.example'), nonce)
    expect(dpop.nonceOf('resource', new URL('https://a.example'))).toBeUndefined()
  })
})

function refuseTokens(w: TestEnvironment, headers: () => Record<string, string>): void {
  const mcp = w.resource.routes.get('/mcp')
  w.resource.routes.set('/mcp', (one) =>
    one.headers.authorization === undefined ? (mcp?.(one) ?? {}) : { status: 401, headers: headers(), body: 'no' },
  )
}

describe('An authorization server without DPoP', () => {
  test('issues bearer tokens, to which no proof is added', async () => {
    await using w = await createTestEnvironment()
    expect(await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop() }))).toMatchObject(completeResponse)
    expect(w.authorizationServer.describeRequests() + w.resource.describeRequests()).not.toContain('"dpop"')
  })

  test.each([
    [
      'does not list ES256',
      (w: TestEnvironment) => (w.authorizationServer.metadata['dpop_signing_alg_values_supported'] = ['RS256']),
      0,
    ],
    ['issues a bearer token all the same', (w: TestEnvironment) => (w.authorizationServer.ignoresProofs = true), 1],
  ])('that %s is refused where bound tokens are required', async (_, change, logins) => {
    await using w = await dpopWorld()
    change(w)
    const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop({ required: true }) })))
    expect(error).toMatchObject({ code: 'dpop_unsupported', issuer: w.authorizationServer.issuer })
    expect([w.browser.visited.length, w.resource.describeRequests().includes('access-')]).toEqual([logins, false])
  })

  test('leaves bearer tokens in the store, which are not used where bound ones are required', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    w.authorizationServer.metadata['dpop_signing_alg_values_supported'] = ['ES256']
    await callWithAuth(w.resource.url, w.createOAuth({ store, dpop: dpop({ required: true }) }))
    expect(received(w, '/mcp').map(({ headers }) => headers.authorization?.split(' ')[0])).toEqual([
      undefined,
      'Bearer',
      undefined,
      'DPoP',
    ])
  })
})

test('a proof that the server refuses does not start a new login', async () => {
  await using w = await dpopWorld()
  refuseTokens(w, () => ({ 'www-authenticate': 'DPoP error="invalid_dpop_proof"' }))
  const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop() })))
  expect(error).toMatchObject({ code: 'token_refused', error: 'invalid_dpop_proof' })
  expect([w.resource.count('/mcp'), w.browser.visited.length]).toEqual([2, 1])
})

test.each([
  ['of another curve', () => generateKeyPair('ES384')],
  ['of RSA', () => generateKeyPair('RS256')],
  [
    'that is turned round',
    async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
      return { publicKey: privateKey, privateKey: publicKey }
    },
  ],
])('A key pair %s makes no proofs', async (_, make) => {
  await using w = await createTestEnvironment()
  const keyPair = await make()
  expect(() => w.createOAuth({ dpop: dpop({ keyPair }) })).toThrow(TypeError)
})
