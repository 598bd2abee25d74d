import { AsyncLocalStorage } from 'node:async_hooks'
import { connectHttp } from '@x/transport-http/client'
import { createGate } from '@tooling/vitest/gate'
import { describe, expect, test } from 'vitest'
import { callTool } from '../testing/call.ts'
import { callWithAuth, createTestEnvironment, rejectionOf, completeResponse } from '../testing/world.ts'
import { memoryAuthStore } from './store.ts'

const fifty = Array.from({ length: 50 }, (_, index) => index)

test('A login that calls share runs in the async context of none of them', async () => {
  await using w = await createTestEnvironment()
  const storage = new AsyncLocalStorage<string>()
  const seen = new Set<string | undefined>()
  const auth = w.createOAuth({
    fetch: (url, request) => {
      seen.add(storage.getStore())
      return fetch(url, request)
    },
  })
  const responses = await Promise.all(
    ['ada', 'eve'].map((user) => storage.run(user, () => callWithAuth(w.resource.url, auth))),
  )
  expect(responses).toMatchObject([completeResponse, completeResponse])
  expect(seen).toEqual(new Set([undefined]))
})

describe('Fifty calls at once', () => {
  test('without a token send one person to log in [AUE-023]', async () => {
    await using w = await createTestEnvironment()
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth() })
    const results = await Promise.all(fifty.map(() => callTool(connection)))
    for (const result of results) expect(result).toMatchObject(completeResponse)
    expect([
      w.browser.visited.length,
      w.authorizationServer.count('/register'),
      w.authorizationServer.count('/token'),
    ]).toEqual([1, 1, 1])
  })

  test.each([
    ['has ended by the clock', 3600],
    ['is refused', undefined],
  ])('with a token that %s refresh once [AUE-023 AUE-025]', async (_, expiresIn) => {
    await using w = await createTestEnvironment()
    let time = Date.now()
    w.authorizationServer.expiresIn = expiresIn
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth({ runtime: { now: () => time } }) })
    await callTool(connection)
    time += 3_600_000
    w.authorizationServer.expireTokens()
    const results = await Promise.all(fifty.map(() => callTool(connection)))
    for (const result of results) expect(result).toMatchObject(completeResponse)
    expect([w.browser.visited.length, w.authorizationServer.count('/token')]).toEqual([1, 2])
  })

  test('of five hosts that share a store refresh once [AUE-023]', async () => {
    await using w = await createTestEnvironment()
    const store = memoryAuthStore()
    await callWithAuth(w.resource.url, w.createOAuth({ store }))
    w.authorizationServer.expireTokens()
    const hosts = [0, 1, 2, 3, 4].map(() => connectHttp(w.resource.url, { auth: w.createOAuth({ store }) }))
    const results = await Promise.all(fifty.map((index) => callTool(hosts[index % 5] ?? connectHttp(w.resource.url))))
    for (const result of results) expect(result).toMatchObject(completeResponse)
    expect([w.browser.visited.length, w.authorizationServer.count('/token')]).toEqual([1, 2])
    for (const host of hosts) await host.close()
  })

  test('of which some need more scopes lose none of them', async () => {
    await using w = await createTestEnvironment()
    w.resource.requiredScopes.set('write', ['write'])
    w.resource.requiredScopes.set('admin', ['admin'])
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth() })
    const names = ['greet', 'write', 'admin']
    const results = await Promise.all(fifty.map((index) => callTool(connection, names[index % 3])))
    for (const result of results) expect(result).toMatchObject(completeResponse)
    expect(w.browser.visited.length).toBeLessThanOrEqual(3)
    expect(w.browser.visited.at(-1)?.searchParams.get('scope')?.split(' ').toSorted()).toEqual(['admin', 'write'])
  })

  test('of which the login fails get that error each, and the next call begins anew', async () => {
    await using w = await createTestEnvironment()
    const token = w.authorizationServer.routes.get('/token')
    w.authorizationServer.routes.set('/token', () => ({ status: 503 }))
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth() })
    const errors = await Promise.all(fifty.map(() => rejectionOf(callTool(connection))))
    for (const error of errors) expect(error).toMatchObject({ code: 'server_unavailable' })
    expect(w.browser.visited).toHaveLength(1)
    if (token) w.authorizationServer.routes.set('/token', token)
    expect(await callTool(connection)).toMatchObject(completeResponse)
  })
})

describe('A call that is given up while a person logs in', () => {
  test('fails at once, and the login continues for the next call', async () => {
    await using w = await createTestEnvironment()
    const [isVisiting, mayReturn] = [createGate(), createGate()]
    w.browser.transformAnswer = async (answer) => {
      isVisiting.open()
      await mayReturn.opened
      return answer
    }
    await using connection = connectHttp(w.resource.url, { auth: w.createOAuth() })
    const controller = new AbortController()
    const given = rejectionOf(callTool(connection, 'greet', controller.signal))
    await isVisiting.opened
    controller.abort(new Error('given up'))
    expect(await given).toMatchObject({ message: 'given up' })
    const next = callTool(connection)
    mayReturn.open()
    expect(await next).toMatchObject(completeResponse)
    expect(w.browser.visited).toHaveLength(1)
  })

  test('because its connection closes ends the login when no other call waits for it', async () => {
    await using w = await createTestEnvironment()
    const [isVisiting, isEnded] = [createGate(), createGate<unknown>()]
    const redirect = {
      applicationType: 'native' as const,
      open: async (signal: AbortSignal) => ({
        uri: 'http://127.0.0.1:7777/callback',
        visit: () =>
          new Promise<URL>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
            isVisiting.open()
          }),
        close: async () => isEnded.open(signal.reason),
      }),
    }
    const connection = connectHttp(w.resource.url, { auth: w.createOAuth({ redirect }) })
    const given = rejectionOf(callTool(connection))
    await isVisiting.opened
    await connection.close()
    expect(await given).toMatchObject({ code: 'closed' })
    expect(await isEnded.opened).toMatchObject({ code: 'login_ended' })
  })
})

test('A late 401 for a token that was replaced uses the newer one [AUE-025]', async () => {
  await using w = await createTestEnvironment()
  w.authorizationServer.expiresIn = undefined
  await using connection = connectHttp(w.resource.url, { auth: w.createOAuth() })
  await callTool(connection)
  const mcp = w.resource.routes.get('/mcp')
  const [isHeld, mayAnswer] = [createGate(), createGate()]
  let isFirst = true
  w.resource.routes.set('/mcp', async (one) => {
    if (isFirst) {
      isFirst = false
      isHeld.open()
      await mayAnswer.opened
    }
    return mcp?.(one) ?? {}
  })
  const late = callTool(connection)
  await isHeld.opened
  w.authorizationServer.expireTokens()
  await callTool(connection)
  mayAnswer.open()
  expect(await late).toMatchObject(completeResponse)
  expect([w.browser.visited.length, w.authorizationServer.count('/token')]).toEqual([1, 2])
})
