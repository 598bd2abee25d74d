import { describe, expect, test } from 'vitest'
import { createScriptedServer } from '../testing/http-script.ts'
import { callWithAuth, createTestEnvironment, rejectionOf, completeResponse } from '../testing/world.ts'
import { authErrorOf, isAuthError } from './auth-error.ts'
import { authorizedFetch } from './authorized-fetch.ts'
import { pageRedirect } from './page-redirect.ts'
import { memoryAuthStore, type WebStorage, webStorageStore } from './store.ts'

describe('A page', () => {
  test('leaves for the login as a web application, and continues after the redirect with the stored login [AUR-014]', async () => {
    await using w = await createTestEnvironment()
    const values = new Map<string, string>()
    const storage: WebStorage = {
      getItem: (key) => values.get(key) ?? null,
      setItem: (key, value) => void values.set(key, value),
      removeItem: (key) => void values.delete(key),
    }
    const left: URL[] = []
    const open = (): ReturnType<typeof w.createOAuth> =>
      w.createOAuth({
        redirect: pageRedirect({ uri: 'https://app.example.com/', assign: (url) => void left.push(url) }),
        store: webStorageStore(storage),
      })
    expect(await rejectionOf(callWithAuth(w.resource.url, open()))).toMatchObject({
      code: 'authorization_needed',
      url: left[0],
    })
    const registration = w.authorizationServer.received.find(({ path }) => path === '/register')
    expect(JSON.parse(registration?.body ?? '')).toMatchObject({ application_type: 'web' })
    const response = await fetch(left[0] ?? '', { redirect: 'manual' })
    // The page was loaded anew.
    const auth = open()
    expect(await auth.finishLogin(response.headers.get('location') ?? '')).toEqual({ url: w.resource.url })
    expect(await callWithAuth(w.resource.url, open())).toMatchObject(completeResponse)
    expect([left.length, [...values.keys()].some((key) => key.includes('flow'))]).toEqual([1, false])
  })

  test.each([['https://app.example.com'], ['https://app.example.com/?a=b c'], [new URL('https://app.example.com')]])(
    'sends its redirect URI %s as it is given',
    async (uri) => {
      await using w = await createTestEnvironment()
      const needed = await rejectionOf(w.createOAuth({ redirect: pageRedirect({ uri }) }).login(w.resource.url))
      const { url } = needed as { url: URL }
      const registration = w.authorizationServer.received.find(({ path }) => path === '/register')
      expect(url.searchParams.get('redirect_uri')).toBe(String(uri))
      expect(JSON.parse(registration?.body ?? '')).toMatchObject({ redirect_uris: [String(uri)] })
    },
  )

  test('may lock over tabs', async () => {
    const asked: string[] = []
    const store = webStorageStore(
      { getItem: () => null, setItem: () => {}, removeItem: () => {} },
      {
        request: (name, run) => {
          asked.push(name)
          return run()
        },
      },
    )
    expect(await store.lock?.('a', async () => 7)).toBe(7)
    expect(asked).toEqual(['mcp-auth a'])
  })
})

describe('authorizedFetch', () => {
  test('logs in where the server requires it, and sends the token of the endpoint', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.resource.routes.set('/files/1', ({ headers, body }) => ({ body: { token: headers.authorization, body } }))
    const fetch = authorizedFetch(auth, { endpoint: w.resource.url })
    const answer = await fetch(`${w.resource.origin}/files/1`, { method: 'PUT', body: 'text' })
    expect(await answer.json()).toEqual({ token: expect.stringMatching(/^Bearer canary-access-/), body: 'text' })
    expect(w.browser.visited).toHaveLength(1)
  })

  test('sends a request again after 401', async () => {
    await using w = await createTestEnvironment()
    const auth = w.createOAuth()
    const body = JSON.stringify({ id: 1, params: { name: 'greet' } })
    const answer = await authorizedFetch(auth)(w.resource.url, { method: 'POST', body })
    expect([answer.status, w.resource.count('/mcp')]).toEqual([200, 2])
  })

  test('sends nothing to another origin than the endpoint’s, and follows no redirect', async () => {
    await using w = await createTestEnvironment()
    await using other = await createScriptedServer()
    const fetch = authorizedFetch(w.createOAuth(), { endpoint: w.resource.url })
    await expect(fetch(`${other.origin}/x`)).rejects.toThrow(TypeError)
    w.resource.routes.set('/moved', () => ({ status: 307, headers: { location: `${other.origin}/x` } }))
    expect((await fetch(`${w.resource.origin}/moved`)).status).toBe(307)
    expect(other.received).toHaveLength(0)
  })

  test('refuses a body that it could not send again', async () => {
    await using w = await createTestEnvironment()
    const body = new ReadableStream()
    await expect(authorizedFetch(w.createOAuth())(w.resource.url, { method: 'POST', body })).rejects.toThrow(TypeError)
  })
})

test('The error of a login is found behind the error of a call', async () => {
  const error = await rejectionOf(Promise.reject(new Error('call', { cause: new Error('inner') })))
  expect([isAuthError(error), authErrorOf(error)]).toEqual([false, undefined])
})

test('A record that cannot be read counts as none', async () => {
  await using w = await createTestEnvironment()
  const inner = memoryAuthStore()
  const keys: string[] = []
  const store = { ...inner, set: (key: string, value: string) => (keys.push(key), inner.set(key, value)) }
  await callWithAuth(w.resource.url, w.createOAuth({ store }))
  for (const broken of ['', 'null', '[]', '{"access":7}', '{"issuer":"x"}', '{{']) {
    for (const key of keys) await inner.set(key, broken)
    expect(await callWithAuth(w.resource.url, w.createOAuth({ store }))).toMatchObject(completeResponse)
  }
})
