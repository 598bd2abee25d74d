import { describe, expect, test } from 'vitest'
import { createGate } from '@tooling/vitest/gate'
import { createScriptedAuthorizationServer } from '../testing/scripted-as.ts'
import type { Reply, Route } from '../testing/http-script.ts'
import {
  callWithAuth,
  completeResponse,
  createTestEnvironment,
  rejectionOf,
  type TestEnvironment,
} from '../testing/world.ts'
import { pageRedirect } from './page-redirect.ts'
import { memoryAuthStore } from './store.ts'

const callback = 'http://localhost:8080/callback'

/** Makes an authorization server forget its clients, and answer at a path as `reply` does until it is asked as a new client. */
function forgetClients(w: TestEnvironment, path: string, reply: (one: Parameters<Route>[0]) => Reply): void {
  const { routes, received } = w.authorizationServer
  const idOf = ({ form, query }: Parameters<Route>[0]): string => form.get('client_id') ?? query.get('client_id') ?? ''
  const gone = new Set(received.map(idOf))
  const route = routes.get(path)
  w.authorizationServer.expireTokens()
  routes.set(path, (one) => (gone.has(idOf(one)) || !route ? reply(one) : route(one)))
}

const oauthError =
  (error: string, status = 400) =>
  (): Reply => ({ status, body: { error } })

/** Refuses a code, and says of a refresh token no more than that it has ended. */
const codeError =
  (error: string) =>
  ({ form }: Parameters<Route>[0]): Reply =>
    oauthError(form.get('grant_type') === 'refresh_token' ? 'invalid_grant' : error)()

/** Redirects back with an error. */
const redirectError =
  (error: string) =>
  ({ query }: Parameters<Route>[0]): Reply => {
    const answer = new URL(query.get('redirect_uri') ?? '')
    for (const name of ['error', 'state', 'iss']) answer.searchParams.set(name, query.get(name) ?? error)
    answer.searchParams.delete('iss')
    return { status: 302, headers: { location: answer.href } }
  }

/** The ways in which an authorization server says that it does not know a client, and the logins that the person sees. */
const lost: [string, string, ReturnType<typeof oauthError> | ReturnType<typeof redirectError>, boolean, number][] = [
  ['a refresh with invalid_client', '/token', oauthError('invalid_client', 401), true, 1],
  ['a refresh with unauthorized_client', '/token', oauthError('unauthorized_client'), true, 1],
  ['a code with invalid_client', '/token', codeError('invalid_client'), false, 2],
  ['a login with unauthorized_client', '/authorize', redirectError('unauthorized_client'), false, 2],
  ['a login with invalid_client', '/authorize', redirectError('invalid_client'), false, 2],
  ['a pushed request with invalid_client', '/par', oauthError('invalid_client', 401), false, 1],
]

describe('An authorization server that has forgotten the client', () => {
  test.each(lost)(
    'and answers %s has it registered again by the same login [AUT-101]',
    async (_title, path, reply, canRefresh, visits) => {
      await using w = await createTestEnvironment()
      w.authorizationServer.metadata['authorization_response_iss_parameter_supported'] = false
      if (path === '/par') {
        const par = { require_pushed_authorization_requests: true }
        const pushed_authorization_request_endpoint = `${w.authorizationServer.issuer}/par`
        Object.assign(w.authorizationServer.metadata, { ...par, pushed_authorization_request_endpoint })
      }
      const store = memoryAuthStore()
      const other = w.createOAuth({ store })
      const auth = w.createOAuth({ store })
      await callWithAuth(w.resource.url, auth)
      if (!canRefresh) w.authorizationServer.expireLogins()
      forgetClients(w, path, reply)
      expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
      // The other process has the new registration too.
      w.authorizationServer.expireTokens()
      expect(await callWithAuth(w.resource.url, other)).toMatchObject(completeResponse)
      expect([w.authorizationServer.count('/register'), w.browser.visited.length]).toEqual([2, 1 + visits])
    },
  )

  test('and shows that in the browser alone is registered at by the next login [AUT-101]', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    w.authorizationServer.expireLogins()
    forgetClients(w, '/authorize', () => ({ status: 400, body: '<h1>Unknown client' }))
    w.browser.transformAnswer = (answer) => {
      if (answer.protocol === 'about:') throw new Error('The person closed the page')
      return answer
    }
    const failure = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth({ store })))
    expect(String(failure)).toContain('The person closed the page')
    expect(await callWithAuth(w.resource.url, w.createOAuth({ store }))).toMatchObject(completeResponse)
    expect(w.authorizationServer.count('/register')).toBe(2)
  })

  test('and shows that to a person in a web page is registered at by a login after ten minutes [AUT-101]', async () => {
    await using w = await createTestEnvironment()
    let time = Date.now()
    const redirect = pageRedirect({ uri: callback })
    const auth = w.createOAuth({ redirect, runtime: { now: () => time } })
    const loginUrls = []
    for (const minutes of [0, 9, 2]) {
      time += minutes * 60_000
      loginUrls.push((await rejectionOf(callWithAuth(w.resource.url, auth))) as { url: URL })
    }
    const [first, second, third] = loginUrls.map(({ url }) => url.searchParams.get('client_id'))
    expect([first === second, second === third]).toEqual([true, false])
  })

  test('keeps its new client when an answer to the old one comes late', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth({ redirect: pageRedirect({ uri: callback }) })
    const begin = async (): Promise<string> => {
      const { url } = (await rejectionOf(callWithAuth(w.resource.url, auth))) as { url: URL }
      return (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? ''
    }
    const [late, first] = [await begin(), await begin()]
    forgetClients(w, '/token', oauthError('invalid_client', 401))
    expect(await rejectionOf(auth.finishLogin(first))).toMatchObject({ error: 'invalid_client' })
    const answer = await begin()
    expect(await rejectionOf(auth.finishLogin(late))).toMatchObject({ error: 'invalid_client' })
    expect(await auth.finishLogin(answer)).toEqual({ url: w.resource.url })
    expect(w.authorizationServer.count('/register')).toBe(2)
  })

  test('and refuses each new one too ends the login, and the person sees two pages at most', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    w.authorizationServer.routes.set('/token', codeError('unauthorized_client'))
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ error: 'unauthorized_client' })
    expect([w.authorizationServer.count('/register'), w.browser.visited.length]).toEqual([2, 3])
  })

  test.each([
    ['of the options', (issuer: string) => ({ registrations: [{ issuer, id: 'mine' }] })],
    ['with a metadata document', () => ({ metadataUrl: 'https://client.example.com/client.json' })],
  ])('but knows one %s gets this one again [AUT-101]', async (_title, client) => {
    await using w = await createTestEnvironment()
    w.authorizationServer.metadata['client_id_metadata_document_supported'] = true
    const auth = w.createOAuth({ client: { name: 'test', ...client(w.authorizationServer.issuer) } })
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    const token = w.authorizationServer.routes.get('/token')
    w.authorizationServer.routes.set('/token', oauthError('invalid_client', 401))
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ error: 'invalid_client' })
    if (token) w.authorizationServer.routes.set('/token', token)
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.authorizationServer.count('/register')).toBe(0)
    expect(new Set(w.browser.visited.map((url) => url.searchParams.get('client_id'))).size).toBe(1)
  })

  test('does not make a logout fail, which revokes nothing there', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    forgetClients(w, '/revoke', oauthError('invalid_client', 401))
    await auth.logout(w.resource.url)
    await callWithAuth(w.resource.url, auth)
    expect(w.authorizationServer.count('/register')).toBe(2)
  })
})

test.each([
  ['has lost its metadata', { status: 404 }],
  ['has another name', { body: { issuer: 'https://as.example.com' } }],
  ['is unreachable', { status: 503 }],
])('A resource whose authorization server %s and that names another is logged in at there', async (_title, reply) => {
  await using w = await createTestEnvironment()
  await using other = await createScriptedAuthorizationServer()
  let time = Date.now()
  const auth = w.createOAuth({ runtime: { now: () => time } })
  await callWithAuth(w.resource.url, auth)
  time += 3_600_000
  w.authorizationServer.expireTokens()
  for (const path of ['/.well-known/oauth-authorization-server', '/token'])
    w.authorizationServer.routes.set(path, () => reply)
  w.resource.metadata['authorization_servers'] = [other.issuer]
  w.resource.acceptedServers = [other]
  expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
})

describe('logout', () => {
  test('forgets the registration, in a store that another process has written [AUT-101]', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    const earlier = w.createOAuth({ store })
    // This process has looked for a login before there was one.
    expect(
      await earlier.headers({ url: new URL(w.resource.url), method: 'POST', signal: AbortSignal.any([]) }),
    ).toEqual({})
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    await earlier.logout(w.resource.url)
    expect(w.authorizationServer.count('/revoke')).toBe(2)
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    expect([w.authorizationServer.count('/register'), w.browser.visited.length]).toEqual([2, 2])
  })

  test('leaves the login at another server of the same issuer, which is refreshed as before', async () => {
    await using w = await createTestEnvironment()
    await using other = await createTestEnvironment()
    other.resource.metadata['authorization_servers'] = [w.authorizationServer.issuer]
    other.resource.acceptedServers = [w.authorizationServer]
    const auth = w.createOAuth()
    for (const { url } of [w.resource, other.resource]) await callWithAuth(url, auth)
    await auth.logout(w.resource.url)
    w.authorizationServer.expireTokens()
    expect(await callWithAuth(other.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(2)
  })

  test('ends a login that waits for a person who never answers, and the next call begins another [AUT-103]', async () => {
    await using w = await createTestEnvironment()
    const visited = createGate()
    let isDead = true
    const { open } = w.browser
    const redirect = {
      ...w.browser,
      open: async (signal: AbortSignal) => {
        const listener = await open(signal)
        const never = (): Promise<URL> => (visited.open(), new Promise(() => {}))
        return isDead ? { ...listener, visit: never } : listener
      },
    }
    const auth = w.createOAuth({ redirect })
    const waiting = rejectionOf(callWithAuth(w.resource.url, auth))
    await visited.opened
    await auth.logout(w.resource.url)
    expect(await waiting).toMatchObject({ code: 'login_ended', message: 'The login ended: the user logged out' })
    isDead = false
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.authorizationServer.count('/register')).toBe(2)
  })

  test('makes a response that comes later useless, at whichever process the login began [AUT-103]', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    const auth = w.createOAuth({ redirect: pageRedirect({ uri: callback }), store })
    const { url } = (await rejectionOf(callWithAuth(w.resource.url, auth))) as { url: URL }
    const answer = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? ''
    await w.createOAuth({ store }).logout(w.resource.url)
    expect(await rejectionOf(auth.finishLogin(answer))).toMatchObject({ code: 'response_invalid' })
    expect(w.authorizationServer.count('/token')).toBe(0)
  })
})

test('Of the logins that a person begins and never ends, the latest twenty can be ended', async () => {
  await using w = await createTestEnvironment()
  const kept = new Map<string, string>()
  const store = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: string) => void kept.set(key, value),
    delete: async (key: string) => void kept.delete(key),
  }
  const auth = w.createOAuth({ redirect: pageRedirect({ uri: callback }), store })
  const begin = async (): Promise<URL> => ((await rejectionOf(auth.login(w.resource.url))) as { url: URL }).url
  const first = await begin()
  for (let count = 1; count < 20; count += 1) await begin()
  const answer = (await fetch(first, { redirect: 'manual' })).headers.get('location') ?? ''
  const size = kept.size
  await begin()
  expect(kept.size).toBe(size)
  expect(await rejectionOf(auth.finishLogin(answer))).toMatchObject({ code: 'response_invalid' })
})
