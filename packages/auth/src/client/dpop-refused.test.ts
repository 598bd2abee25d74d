import { describe, expect, test } from 'vitest'
import {
  callWithAuth,
  completeResponse,
  createTestEnvironment,
  rejectionOf,
  type TestEnvironment,
} from '../testing/world.ts'
import { dpop } from './dpop.ts'
import { memoryAuthStore } from './store.ts'

describe('An endpoint that refuses bound tokens and accepts bearer tokens', () => {
  async function bearerWorld(): Promise<TestEnvironment> {
    const w = await createTestEnvironment()
    w.authorizationServer.metadata['dpop_signing_alg_values_supported'] = ['ES256']
    const mcp = w.resource.routes.get('/mcp')
    w.resource.routes.set('/mcp', (one) =>
      one.headers.authorization?.startsWith('DPoP ') || !mcp
        ? { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: 'no' }
        : mcp(one),
    )
    return w
  }

  test('is logged in at with a bearer token by the same call, and remembered by every process', async () => {
    await using w = await bearerWorld()
    const store = memoryAuthStore()
    const auth = w.createOAuth({ dpop: dpop(), store })
    for (let calls = 0; calls < 2; calls += 1)
      expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.browser.visited.map((url) => url.searchParams.has('dpop_jkt'))).toEqual([true, false])
    w.authorizationServer.expireTokens()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    w.authorizationServer.expireTokens()
    w.authorizationServer.expireLogins()
    expect(await callWithAuth(w.resource.url, w.createOAuth({ dpop: dpop(), store }))).toMatchObject(completeResponse)
    expect(w.browser.visited.map((url) => url.searchParams.has('dpop_jkt'))).toEqual([true, false, false])
    await auth.logout(w.resource.url)
    await callWithAuth(w.resource.url, auth)
    expect(w.browser.visited[3]?.searchParams.has('dpop_jkt')).toBe(true)
  })

  test('opens the browser once if bound tokens are required, and the error names the option', async () => {
    await using w = await bearerWorld()
    const auth = w.createOAuth({ dpop: dpop({ required: true }) })
    for (let calls = 0; calls < 3; calls += 1) {
      const error = await rejectionOf(callWithAuth(w.resource.url, auth))
      expect(error).toMatchObject({ code: 'dpop_unsupported', message: expect.stringContaining('`required`') })
    }
    expect(w.browser.visited).toHaveLength(1)
  })
})
