import { describe, expect, test } from 'vitest'
import { createScriptedServer } from '../testing/http-script.ts'
import { callWithAuth, createTestEnvironment, rejectionOf, completeResponse } from '../testing/world.ts'
import { pageRedirect } from './page-redirect.ts'
import { memoryAuthStore } from './store.ts'

const callback = 'http://localhost:8080/callback'

/** Starts a login in a page, and returns the address of its redirect. */
async function startLogin(running: Promise<unknown>): Promise<URL> {
  const needed = await rejectionOf(running)
  expect(needed).toMatchObject({ code: 'authorization_needed' })
  const response = await fetch((needed as { url: URL }).url, { redirect: 'manual' })
  return new URL(response.headers.get('location') ?? '')
}

describe.each([301, 302, 303, 307, 308])('A redirect with %i to another server (CVE-2026-111769)', (status) => {
  test.each([
    ['resource', '/.well-known/oauth-protected-resource/mcp'],
    ['authorizationServer', '/.well-known/oauth-authorization-server'],
    ['authorizationServer', '/register'],
    ['authorizationServer', '/par'],
    ['authorizationServer', '/token'],
  ] as const)('of the %s at %s brings nothing there, and ends the login', async (of, path) => {
    await using w = await createTestEnvironment()
    await using evil = await createScriptedServer()
    if (path === '/par') {
      Object.assign(w.authorizationServer.metadata, {
        require_pushed_authorization_requests: true,
        pushed_authorization_request_endpoint: `${w.authorizationServer.issuer}/par`,
      })
    }
    w[of].routes.set(path, () => ({ status, headers: { location: `${evil.origin}${path}` } }))
    expect(await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))).toMatchObject({
      code: 'server_unavailable',
    })
    expect(evil.received).toEqual([])
  })

  test('at a refresh brings no refresh token there, and the login is kept', async () => {
    await using w = await createTestEnvironment()
    await using evil = await createScriptedServer()
    const auth = w.createOAuth()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    const token = w.authorizationServer.routes.get('/token')
    w.authorizationServer.routes.set('/token', () => ({ status, headers: { location: `${evil.origin}/token` } }))
    expect(await rejectionOf(callWithAuth(w.resource.url, auth))).toMatchObject({ code: 'server_unavailable' })
    expect(evil.received).toEqual([])
    if (token) w.authorizationServer.routes.set('/token', token)
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(1)
  })
})

describe('Two logins at once in one store', () => {
  test('have a verifier each, whichever ends first', async () => {
    await using w = await createTestEnvironment()
    await using other = await createTestEnvironment()
    const store = memoryAuthStore()
    const auth = w.createOAuth({ redirect: pageRedirect({ uri: callback }), store })
    const [first, second] = [
      await startLogin(callWithAuth(w.resource.url, auth)),
      await startLogin(callWithAuth(other.resource.url, auth)),
    ]
    expect(await auth.finishLogin(second)).toEqual({ url: other.resource.url })
    expect(await auth.finishLogin(first)).toEqual({ url: w.resource.url })
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(await callWithAuth(other.resource.url, auth)).toMatchObject(completeResponse)
    expect([w.authorizationServer.count('/token'), other.authorizationServer.count('/token')]).toEqual([1, 1])
  })

  test('do not answer for each other: the code of one is not sent to the server of the other', async () => {
    await using w = await createTestEnvironment()
    await using other = await createTestEnvironment()
    const auth = w.createOAuth({ redirect: pageRedirect({ uri: callback }), store: memoryAuthStore() })
    const [first, second] = [
      await startLogin(callWithAuth(w.resource.url, auth)),
      await startLogin(callWithAuth(other.resource.url, auth)),
    ]
    const mixed = new URL(second)
    mixed.searchParams.set('code', first.searchParams.get('code') ?? '')
    mixed.searchParams.set('iss', w.authorizationServer.issuer)
    expect(await rejectionOf(auth.finishLogin(mixed))).toMatchObject({ code: 'response_invalid' })
    expect([w.authorizationServer.count('/token'), other.authorizationServer.count('/token')]).toEqual([0, 0])
  })
})

test('A refresh names the resource and no scope, which some servers refuse', async () => {
  await using w = await createTestEnvironment()
  const auth = w.createOAuth()
  w.resource.metadata['scopes_supported'] = ['read']
  await callWithAuth(w.resource.url, auth)
  w.authorizationServer.expireTokens()
  await callWithAuth(w.resource.url, auth)
  const forms = w.authorizationServer.received.flatMap(({ path, form }) => (path === '/token' ? [form] : []))
  expect(forms.map((form) => [form.get('grant_type'), form.get('resource'), form.get('scope')])).toEqual([
    ['authorization_code', w.resource.url, null],
    ['refresh_token', w.resource.url, null],
  ])
})

test('A response leads to the server of its login alone, with any address in it', async () => {
  await using w = await createTestEnvironment()
  const auth = w.createOAuth({ redirect: pageRedirect({ uri: callback }), store: memoryAuthStore() })
  const answer = await startLogin(callWithAuth(w.resource.url, auth))
  for (const name of ['redirect_uri', 'return_to', 'next', 'url', 'resource'])
    answer.searchParams.set(name, 'https://evil.example.com/')
  expect(await auth.finishLogin(answer)).toEqual({ url: w.resource.url })
  expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
})
