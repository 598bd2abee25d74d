import { inspect } from 'node:util'
import type { HttpAuthorizer } from '@x/exchange'
import { memoryStore, StateError, type StateStore } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { userLogin, type UserLoginOptions } from '../login.ts'
import { protect, TokenError } from '../server.ts'
import {
  createBrowser,
  createLoginWorld,
  gatewayUrl,
  type LoginInstance,
  type LoginWorld,
  pagesUrl,
} from '../testing/login-world.ts'
import { callWithAuth, completeResponse, rejectionOf } from '../testing/world.ts'

const authOf = async (instance: LoginInstance, { userOf }: LoginWorld, subject: string): Promise<HttpAuthorizer> => {
  const found = await instance.find(userOf(subject))
  if ('loginUrl' in found) throw new Error('The user must log in')
  return found
}

const tokenRequests = ({ crm }: LoginWorld, type: string): number =>
  crm.received.filter(({ path, form }) => path === '/token' && form.get('grant_type') === type).length

async function logIn(world: LoginWorld, instances: readonly LoginInstance[], subject: string): Promise<void> {
  const link = await instances[0]?.linkOf(world.userOf(subject))
  const page = await world.open(instances, link ?? '', createBrowser(subject))
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('You are logged in')])
}

/** A store that records what is in it, and that can be away. */
function createWatchedStore(): StateStore & { readonly values: Map<string, string>; isAway: boolean } {
  const store = memoryStore()
  const values = new Map<string, string>()
  const check = (): void => {
    if (watched.isAway) throw new StateError('unavailable', 'away')
  }
  const watched = {
    values,
    isAway: false,
    add: async (key: string, value: string, ttlMs: number) => {
      check()
      const isAdded = await store.add(key, value, ttlMs)
      if (isAdded) values.set(key, value)
      return isAdded
    },
    get: async (key: string) => {
      check()
      return values.get(key)
    },
    delete: async (key: string) => {
      check()
      values.delete(key)
      await store.delete(key)
    },
  }
  return watched
}

describe('a user logs in at an upstream of a gateway', () => {
  test('through any instances, and every instance then has the token of this user alone [GWY-008]', async () => {
    await using world = await createLoginWorld()
    const instances = [world.createInstance(), world.createInstance(), world.createInstance()]
    await logIn(world, instances, 'ada')
    for (const instance of instances) {
      const auth = await authOf(instance, world, 'ada')
      expect(await callWithAuth(world.upstream.url, auth)).toMatchObject(completeResponse)
      expect(await instance.find({ ...world.userOf('ada'), client: 'other host' })).toBe(auth)
      expect(await instance.find(world.userOf('grace'))).toMatchObject({ loginUrl: expect.stringContaining(pagesUrl) })
      expect(await instance.find({ ...world.userOf('ada'), issuer: 'https://other.example' })).toHaveProperty(
        'loginUrl',
      )
    }
    expect(tokenRequests(world, 'authorization_code')).toBe(1)
  })

  test('and first proves to be the user whose call needs the login', async () => {
    await using world = await createLoginWorld()
    const instance = world.createInstance()
    const page = await world.open([instance], await instance.linkOf(world.userOf('ada')), createBrowser('mallory'))
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('another user')])
    expect(page.visited.map(({ origin }) => origin)).toEqual([world.company.issuer])
    expect(world.crm.received).toEqual([])
    expect(await instance.find(world.userOf('ada'))).toHaveProperty('loginUrl')
    expect(await instance.find(world.userOf('mallory'))).toHaveProperty('loginUrl')
    expect(world.records).toMatchObject([{ level: 'warn', code: 'login_refused', principal: 'ada' }])
  })

  test.each([
    [503, 503, 'does not answer', 'server_unavailable'],
    [403, 502, 'see the reason in the log', 'token_refused'],
    [401, 502, 'see the reason in the log', 'token_refused'],
  ])('and is not taken for another user if the token of the proof gets %i', async (status, page, text, code) => {
    await using world = await createLoginWorld()
    const reason = new TokenError('insufficient_scope', 'The token of "ada" lacks mcp')
    const protection: UserLoginOptions['protection'] = {
      documents: protect({ resource: gatewayUrl, issuers: [world.company.issuer] }).documents,
      authenticate: (_, context) => {
        context?.report(reason)
        return { status, message: 'This needs the scopes mcp', headers: {} }
      },
    }
    const instance = world.createInstance({ protection })
    const arrived = await world.open([instance], await instance.linkOf(world.userOf('ada')), createBrowser('ada'))
    expect([arrived.status, arrived.text]).toEqual([page, expect.stringContaining(text)])
    const message = expect.stringContaining('This needs the scopes mcp')
    expect(world.records).toMatchObject([{ level: 'error', message, err: { code, cause: reason } }])
  })

  test('with one registration of the gateway for all users, also if two log in at once', async () => {
    await using world = await createLoginWorld()
    const instances = [world.createInstance(), world.createInstance()]
    await Promise.all(
      instances.map(async (instance, index) => {
        const link = await instance.linkOf(world.userOf(`user-${index}`))
        await instance.handle(new Request(link))
      }),
    )
    expect(world.company.received.filter(({ path }) => path === '/register')).toHaveLength(1)
  })

  test('with the client that is registered at its authorization server', async () => {
    await using world = await createLoginWorld()
    const instance = world.createInstance()
    const { issuer } = world.crm
    instance.credentialFor(world.upstream.url, { issuer, id: 'known', secret: 'canary-secret' })
    await logIn(world, [instance], 'ada')
    expect(world.crm.received.map(({ path }) => path)).not.toContain('/register')
    expect(world.crm.received.find(({ path }) => path === '/authorize')?.query.get('client_id')).toBe('known')
  })
})

describe('a page of a login', () => {
  test.each([
    ['was changed', (link: string) => `${link.slice(0, -2)}AA`, 0],
    ['has no login', () => pagesUrl, 0],
    ['is older than ten minutes', (link: string) => link, 600_001],
  ])('whose link %s begins nothing', async (_, change, ageMs) => {
    await using world = await createLoginWorld()
    const instance = world.createInstance()
    const link = change(await instance.linkOf(world.userOf('ada')))
    world.advanceTime(ageMs)
    const page = await world.open([instance], link, createBrowser('ada'))
    expect([page.status, page.visited]).toEqual([400, []])
  })

  test('accepts a response from the browser that began the login, and once', async () => {
    await using world = await createLoginWorld()
    const instance = world.createInstance()
    const browser = createBrowser('ada')
    const link = await instance.linkOf(world.userOf('ada'))
    const start = await instance.handle(new Request(link))
    const atCompany = await fetch(start?.headers.get('location') ?? '', { redirect: 'manual' })
    const answer = atCompany.headers.get('location') ?? ''
    const foreign = await world.open([instance], answer, createBrowser('ada'))
    expect(foreign.status).toBe(400)
    expect(world.company.received.filter(({ path }) => path === '/token')).toEqual([])
    const done = await world.open([instance], link, browser)
    expect(done.status).toBe(200)
    for (const again of done.answers.slice(1)) {
      const page = await world.open([instance], again, browser)
      expect([page.status, page.visited]).toEqual([400, []])
    }
    expect(browser.cookies.size).toBe(1)
  })

  test('tells a user who refuses, and the user can begin again', async () => {
    await using world = await createLoginWorld()
    const instance = world.createInstance()
    const { routes } = world.crm
    const grantAccess = routes.get('/authorize')
    routes.set('/authorize', ({ query }) => {
      const back = new URL(query.get('redirect_uri') ?? '')
      const answer = { error: 'access_denied', state: query.get('state') ?? '', iss: world.crm.issuer }
      for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value)
      return { status: 302, headers: { location: back.href } }
    })
    const link = await instance.linkOf(world.userOf('ada'))
    const page = await world.open([instance], link, createBrowser('ada'))
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('refused')])
    if (grantAccess !== undefined) routes.set('/authorize', grantAccess)
    await logIn(world, [instance], 'ada')
  })

  test('is stored by no cache, framed by no page, and serves GET alone', async () => {
    await using world = await createLoginWorld()
    const instance = world.createInstance()
    const response = await instance.handle(new Request(pagesUrl))
    expect(Object.fromEntries(response?.headers ?? [])).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'referrer-policy': 'no-referrer',
    })
    const posted = await instance.handle(new Request(pagesUrl, { method: 'POST' }))
    expect([posted?.status, posted?.headers.get('allow')]).toEqual([405, 'GET'])
    for (const url of [gatewayUrl, `${pagesUrl}/other`, new URL('/', pagesUrl)])
      expect(instance.handle(new Request(url))).toBeUndefined()
  })

  test('over https sets cookies that no other host and no script can read or write', async () => {
    await using world = await createLoginWorld()
    const instance = world.createInstance({ url: 'https://gateway.example.com/login' })
    const page = await instance.handle(new Request(await instance.linkOf(world.userOf('ada'))))
    const cookie = page?.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^__Host-mcp-login-[\w-]{16}=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/)
  })
})

describe('the token of a user', () => {
  test('is refreshed once, by whichever instance needs it first', async () => {
    await using world = await createLoginWorld()
    const instances = [world.createInstance(), world.createInstance()]
    await logIn(world, instances, 'ada')
    const authorizers = await Promise.all(instances.map((instance) => authOf(instance, world, 'ada')))
    for (const refreshes of [1, 2]) {
      world.advanceTime(3_600_000)
      const calls = authorizers.map((auth) => callWithAuth(world.upstream.url, auth))
      for (const answer of await Promise.all(calls)) expect(answer).toMatchObject(completeResponse)
      expect(tokenRequests(world, 'refresh_token')).toBe(refreshes)
    }
  })

  test('that cannot be refreshed needs another login, after which every instance uses the new one', async () => {
    await using world = await createLoginWorld()
    const instances = [world.createInstance(), world.createInstance()]
    await logIn(world, instances, 'ada')
    const [first, second] = await Promise.all(instances.map((instance) => authOf(instance, world, 'ada')))
    world.crm.expireTokens()
    world.crm.expireLogins()
    const error = await rejectionOf(callWithAuth(world.upstream.url, first as HttpAuthorizer))
    expect(error).toMatchObject({ code: 'authorization_needed', url: { origin: new URL(pagesUrl).origin } })
    expect(await instances[0]?.find(world.userOf('ada'))).toHaveProperty('loginUrl')
    await logIn(world, instances, 'ada')
    // The second instance still has the old token in memory.
    expect(await callWithAuth(world.upstream.url, second as HttpAuthorizer)).toMatchObject(completeResponse)
    const found = await authOf(instances[0] as LoginInstance, world, 'ada')
    expect(await callWithAuth(world.upstream.url, found)).toMatchObject(completeResponse)
  })

  test('without a scope that a tool needs stays, and the login for the tool requests the scope', async () => {
    await using world = await createLoginWorld()
    const instance = world.createInstance()
    await logIn(world, [instance], 'ada')
    world.upstream.requiredScopes.set('admin', ['items:write'])
    const auth = await authOf(instance, world, 'ada')
    const error = await rejectionOf(callWithAuth(world.upstream.url, auth, 'admin'))
    expect(error).toMatchObject({ code: 'authorization_needed' })
    expect(await callWithAuth(world.upstream.url, auth)).toMatchObject(completeResponse)
    const { url } = error as { url: URL }
    expect((await world.open([instance], url, createBrowser('ada'))).status).toBe(200)
    expect(await callWithAuth(world.upstream.url, auth, 'admin')).toMatchObject(completeResponse)
  })

  test('is readable neither in the store, nor in a link, a cookie, a page or the log [GWY-002]', async () => {
    const store = createWatchedStore()
    await using world = await createLoginWorld(store)
    const instance = world.createInstance()
    const browser = createBrowser('ada')
    const link = await instance.linkOf(world.userOf('ada'))
    const page = await world.open([instance], link, browser)
    const written = [...store.values, link, page.text, [...browser.cookies], world.records].map((each) => inspect(each))
    expect(store.values.size).toBeGreaterThan(2)
    for (const text of written) {
      expect(text).not.toContain('canary')
      for (const each of ['"ada"', 'ada ', encodeURIComponent(world.crm.issuer), world.crm.issuer, world.upstream.url])
        expect(text).not.toContain(each)
    }
  })

  test('opens for its own user alone, also if the store returns it to another one', async () => {
    const store = createWatchedStore()
    await using world = await createLoginWorld(store)
    const instance = world.createInstance()
    await logIn(world, [instance], 'ada')
    const ofAda = new Map(store.values)
    store.values.clear()
    await logIn(world, [instance], 'grace')
    const grace = [...store.values.keys()].filter((key) => !ofAda.has(key))
    const tokens = [...ofAda.keys()].filter((key) => !store.values.has(key))
    for (const key of grace) store.values.set(key, ofAda.get(tokens[grace.indexOf(key)] ?? '') ?? '')
    expect(await world.createInstance().find(world.userOf('grace'))).toHaveProperty('loginUrl')
  })
})

describe('while the store is away', () => {
  test('a credential is not available now, and a page says so', async () => {
    const store = createWatchedStore()
    await using world = await createLoginWorld(store)
    const instance = world.createInstance()
    const link = await instance.linkOf(world.userOf('ada'))
    store.isAway = true
    await expect(instance.find(world.userOf('ada'))).rejects.toMatchObject({ name: 'StateError', code: 'unavailable' })
    const page = await world.open([instance], link, createBrowser('ada'))
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '60'])
    store.isAway = false
    await logIn(world, [instance], 'ada')
  })
})

test.each([
  ['no principal', undefined],
  ['no issuer', { subject: 'ada' }],
])('a caller with %s cannot log in', async (_, principal) => {
  await using world = await createLoginWorld()
  await expect(world.createInstance().find(principal)).rejects.toMatchObject({ code: 'client_needed' })
})

test('options that cannot work are refused at once', async () => {
  await using world = await createLoginWorld()
  const state = memoryStore()
  const protection = protect({ resource: gatewayUrl, issuers: [world.company.issuer] })
  expect(() => world.createInstance({ url: 'http://gateway.example.com/login' })).toThrow(/only https is safe/)
  expect(() => world.createInstance({ keys: [undefined] })).toThrow(/key/)
  expect(() => world.createInstance({ protection: { ...protection, documents: {} } })).toThrow(/protect\(\)/)
  const base = { url: pagesUrl, protection, client: { name: 'gateway' }, store: state, keys: ['x'.repeat(64)] }
  expect(() => userLogin({ ...base, pages: true } as never)).toThrow(/pages/)
})
