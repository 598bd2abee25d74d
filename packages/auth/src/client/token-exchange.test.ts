import { inspect } from 'node:util'
import type { Principal } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { tokenExchange, type TokenExchangeOptions } from '../exchange.ts'
import { clientCredentials } from '../machine.ts'
import {
  createProtectedServer,
  type ProtectedServer,
  resource as gatewayUrl,
  type ScriptedOptions,
} from '../testing/protected.ts'
import {
  callWithAuth,
  completeResponse,
  createTestEnvironment,
  rejectionOf,
  type TestEnvironment,
} from '../testing/world.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const client = { id: 'gateway', secret: 'gateway-secret' }

/** A gateway whose callers are verified, and an upstream whose authorization server exchanges their tokens. */
interface ExchangeWorld extends TestEnvironment {
  readonly gateway: ProtectedServer
  /** Sends a token to the gateway. Returns the token and the principal that the gateway derives from it. */
  readonly arrive: (claims?: JsonObject) => Promise<{ readonly token: string; readonly principal: Principal }>
  readonly exchange: (options?: Partial<TokenExchangeOptions>) => ReturnType<typeof tokenExchange>
  readonly tokenRequests: () => readonly URLSearchParams[]
}

async function createExchangeWorld(options: ScriptedOptions = {}): Promise<ExchangeWorld> {
  const world = await createTestEnvironment()
  const gateway = await createProtectedServer(options)
  const { authorizationServer } = world
  const grant = (form: URLSearchParams) => ({ scope: form.get('scope') ?? '', resource: form.get('resource') ?? '' })
  authorizationServer.otherGrants.set(grantType, grant)
  return {
    ...world,
    gateway,
    arrive: async (claims = {}) => {
      const token = await gateway.issuer.sign({ claims })
      await gateway.send(token)
      const principal = gateway.principals.at(-1)
      if (principal === undefined) throw new Error('The gateway refused the token')
      return { token, principal }
    },
    exchange: (options) =>
      tokenExchange({
        issuer: authorizationServer.issuer,
        subjectIssuer: gateway.issuer.issuer,
        client,
        ...options,
      }),
    tokenRequests: () => authorizationServer.received.filter(({ path }) => path === '/token').map(({ form }) => form),
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

describe('the token of a caller', () => {
  test('is exchanged for a token of the upstream, with the credentials of the gateway [GWY-002]', async () => {
    await using w = await createExchangeWorld()
    w.resource.metadata['scopes_supported'] = ['crm:read']
    const { token, principal } = await w.arrive()
    const auth = w.exchange({ audience: 'crm' })(principal)
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.tokenRequests().map((form) => Object.fromEntries(form))).toEqual([
      {
        grant_type: grantType,
        requested_token_type: accessTokenType,
        subject_token: token,
        subject_token_type: accessTokenType,
        resource: w.resource.url,
        audience: 'crm',
        scope: 'crm:read',
      },
    ])
    const sent = w.authorizationServer.received.find(({ path }) => path === '/token')?.headers.authorization
    expect(sent).toBe(`Basic ${btoa('gateway:gateway-secret')}`)
    expect(w.resource.describeRequests()).not.toContain(token)
  })

  test('is exchanged once for calls at the same time, and again after the token of the upstream has expired', async () => {
    await using w = await createExchangeWorld()
    const { principal } = await w.arrive()
    let now = Date.now()
    const source = w.exchange({ runtime: { now: () => now } })
    await Promise.all(Array.from({ length: 5 }, () => callWithAuth(w.resource.url, source(principal))))
    expect(w.tokenRequests()).toHaveLength(1)
    // The idle limit is ten minutes, so that the caller keeps its tokens for the hour of their lifetime.
    for (let minutes = 0; minutes < 60; minutes += 6) {
      now += 6 * 60_000
      source(principal)
    }
    await callWithAuth(w.resource.url, source(principal))
    expect(w.tokenRequests()).toHaveLength(2)
  })

  test('is replaced by a newer one of the same caller', async () => {
    await using w = await createExchangeWorld()
    const first = await w.arrive({ jti: 'first' })
    const source = w.exchange()
    const auth = source(first.principal)
    await callWithAuth(w.resource.url, auth)
    const second = await w.arrive({ jti: 'second' })
    expect(source(second.principal)).toBe(auth)
    w.authorizationServer.expireTokens()
    await callWithAuth(w.resource.url, auth)
    expect(w.tokenRequests().map((form) => form.get('subject_token'))).toEqual([first.token, second.token])
  })

  test('is in no member of its principal, and a copy of the principal has none', async () => {
    await using w = await createExchangeWorld()
    const { token, principal } = await w.arrive()
    expect(inspect(principal, { showHidden: true, depth: 20, maxStringLength: null })).not.toContain(token)
    const copies = [undefined, { ...principal }, structuredClone(principal), JSON.parse(JSON.stringify(principal))]
    for (const copy of copies)
      expect(() => w.exchange()(copy)).toThrow('The caller has no token to exchange: protect() of @x/auth/server')
    expect(w.tokenRequests()).toEqual([])
  })

  test('of another issuer is not sent', async () => {
    await using w = await createExchangeWorld()
    const { principal } = await w.arrive()
    expect(() => w.exchange({ subjectIssuer: undefined })(principal)).toThrow('of another issuer than `subjectIssuer`')
    expect(w.authorizationServer.received).toEqual([])
  })

  test('that is refused is in no error, even if the server repeats it', async () => {
    await using w = await createExchangeWorld()
    const { token, principal } = await w.arrive()
    w.authorizationServer.otherGrants.set(grantType, (form) => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: `refused: ${form.get('subject_token')?.slice(0, 20)}` },
    }))
    const error = await rejectionOf(callWithAuth(w.resource.url, w.exchange()(principal)))
    expect(error).toMatchObject({ code: 'token_rejected', error: 'invalid_grant' })
    expect(inspect(error)).not.toContain(token.slice(0, 20))
    expect(w.resource.describeRequests()).not.toContain('Bearer')
  })
})

test('an opaque token that is refused is in no error, even if the server repeats it', async () => {
  await using w = await createExchangeWorld({ issuers: (issuer) => [{ issuer, introspection: { client } }] })
  const claims = { active: true, aud: gatewayUrl, sub: 'ada', client_id: 'host', scope: 'items:read' }
  w.gateway.issuer.answer('/introspect', { json: claims })
  const opaque = 'canary opaque token'.replaceAll(' ', '-')
  await w.gateway.send(opaque)
  w.authorizationServer.otherGrants.set(grantType, (form) => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: `refused: ${form.get('subject_token')}` },
  }))
  const error = await rejectionOf(callWithAuth(w.resource.url, w.exchange()(w.gateway.principals[0])))
  expect(error).toMatchObject({ code: 'token_rejected', error: 'invalid_grant' })
  expect(w.tokenRequests().map((form) => form.get('subject_token'))).toEqual([opaque])
  expect(inspect(error)).not.toContain(opaque)
})

test.each([
  ['subject', { sub: 'grace' }],
  ['client', { client_id: 'other' }],
  ['scopes', { scope: 'items:read items:write' }],
])('callers with other %s have tokens of their own', async (_, claims) => {
  await using w = await createExchangeWorld()
  const [one, other] = [await w.arrive(), await w.arrive(claims)]
  const source = w.exchange()
  expect(source(other.principal)).not.toBe(source(one.principal))
  await callWithAuth(w.resource.url, source(one.principal))
  await callWithAuth(w.resource.url, source(other.principal))
  expect(w.tokenRequests().map((form) => form.get('subject_token'))).toEqual([one.token, other.token])
  const tokens = w.resource.received.map(({ headers }) => headers.authorization).filter((each) => each !== undefined)
  expect(new Set(tokens).size).toBe(2)
})

test('the tokens of a caller without calls for ten minutes are dropped', async () => {
  await using w = await createExchangeWorld()
  const [ada, grace] = [await w.arrive(), await w.arrive({ sub: 'grace' })]
  let now = 0
  const source = w.exchange({ runtime: { now: () => now } })
  const auth = source(ada.principal)
  now += 599_999
  source(grace.principal)
  expect(source(ada.principal)).toBe(auth)
  now += 600_000
  source(grace.principal)
  expect(source(ada.principal)).not.toBe(auth)
})

test('a result that is not an access token is not used', async () => {
  await using w = await createExchangeWorld()
  const { principal } = await w.arrive()
  const body = { access_token: 'canary-other', issued_token_type: accessTokenType, token_type: 'N_A' }
  for (const answer of [body, { ...body, token_type: 'Bearer', issued_token_type: 'urn:other' }]) {
    w.authorizationServer.otherGrants.set(grantType, () => ({ body: answer }))
    const error = await rejectionOf(callWithAuth(w.resource.url, w.exchange()(principal)))
    expect(error).toMatchObject({ code: 'token_rejected' })
  }
  expect(w.resource.describeRequests()).not.toContain('canary-other')
})

test.each([
  ['an option that it does not know', { store: {} }, 'store'],
  ['a client without a key and a secret', { client: { id: 'gateway' } }, '`client` must have a `key` or a `secret`'],
])('tokenExchange refuses %s', (_, options, message) => {
  const given = { issuer: 'https://login.example', client, ...options }
  expect(() => tokenExchange(given)).toThrow(message)
})

describe('an API that publishes no metadata', () => {
  const metadata = { resource: 'https://api.example.com', scopes: ['orders:read'] }
  const refused = { status: 401, header: () => undefined }
  test.each(['tokenExchange', 'clientCredentials'] as const)(
    'gets a token of %s with the first request, and one other token after 401',
    async (kind) => {
      await using w = await createExchangeWorld()
      const { issuer, otherGrants } = w.authorizationServer
      otherGrants.set('client_credentials', () => ({ scope: 'orders:read', resource: metadata.resource }))
      const { principal } = await w.arrive()
      const auth =
        kind === 'tokenExchange' ? w.exchange({ metadata })(principal) : clientCredentials({ issuer, client, metadata })
      const signal = new AbortController().signal
      const target = { url: new URL('http://127.0.0.1:9/v2'), method: 'GET', signal }
      const first = await auth.headers(target)
      expect(first).toEqual({ authorization: expect.stringMatching(/^Bearer ./) })
      expect(await auth.onResponse(refused, target)).toBe('retry')
      expect(await auth.headers(target)).not.toEqual(first)
      await expect(Promise.resolve().then(() => auth.onResponse(refused, target))).rejects.toMatchObject({
        code: 'token_refused',
      })
      const asked = w.tokenRequests().map((form) => [form.get('resource'), form.get('scope')])
      expect(asked).toEqual([
        ['https://api.example.com', 'orders:read'],
        ['https://api.example.com', 'orders:read'],
      ])
    },
  )
})
