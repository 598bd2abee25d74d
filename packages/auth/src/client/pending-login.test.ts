import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGate } from '@tooling/vitest/gate'
import { manualClock } from '@tooling/vitest/manual-clock'
import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { createTestEnvironment } from '../testing/world.ts'
import { fileStore } from '../node/file-store.ts'
import { authErrorOf } from './auth-error.ts'

test.each([
  ['connectHttp', connectHttp],
  ['connectAny', (url: string, http: Parameters<typeof connectHttp>[1]) => connectAny(url, { http: http ?? {} })],
])(
  'A login that is open in the browser shows in the state of %s and in the error of a call [AUT-103]',
  async (_title, connect) => {
    await using w = await createTestEnvironment()
    const [visited, mayReturn] = [createGate(), createGate()]
    w.browser.transformAnswer = async (answer) => {
      visited.open()
      await mayReturn.opened
      return answer
    }
    const clock = manualClock()
    const auth = w.createOAuth()
    await using connection = connect(w.resource.url, { auth })
    const client = createClient(connection, { name: 'test', version: '1.0.0', runtime: clock })
    const failed = client.callTool('greet', {}, { timeoutMs: 1000 }).catch((error: unknown) => error)
    await visited.opened
    const [page] = w.browser.visited
    const pending = { code: 'login_pending', url: page, issuer: w.authorizationServer.issuer }
    expect(auth.pendingLogin(`${w.resource.url}#x`)).toMatchObject(pending)
    const reason = auth.pendingLogin(w.resource.url)
    expect(connection.state).toEqual({ status: 'login_needed', loginUrl: page?.href, reason })
    clock.advance(1000)
    const error = await failed
    expect(error).toMatchObject({ code: 'timeout' })
    expect(String(error)).toContain(
      `A login is open in the browser, at ${w.authorizationServer.issuer}/authorize; neither`,
    )
    expect(authErrorOf(error)).toMatchObject(pending)
    mayReturn.open()
    await auth.login(w.resource.url)
    await client.callTool('greet', { name: 'Ada' }).catch(() => {})
    expect([connection.state.status, w.browser.visited.length]).toEqual(['open', 1])
    await auth.logout(w.resource.url)
    expect(connection.state).toMatchObject({ status: 'login_needed', reason: { code: 'login_ended' } })
  },
)

test('A login for another scope shows in the error of its call, though other calls are answered meanwhile [AUT-103]', async () => {
  await using w = await createTestEnvironment()
  await using connection = connectHttp(w.resource.url, { auth: w.createOAuth() })
  const clock = manualClock()
  const client = createClient(connection, { name: 'test', version: '1.0.0', runtime: clock })
  await client.callTool('greet')
  w.resource.requiredScopes.set('update', ['items:write'])
  const visited = createGate()
  w.browser.transformAnswer = () => {
    visited.open()
    return new Promise(() => {})
  }
  const failed = client.callTool('update', {}, { timeoutMs: 1000 }).catch(String)
  await visited.opened
  await client.callTool('greet')
  expect(connection.state).toMatchObject({ status: 'login_needed', reason: { addedScopes: ['items:write'] } })
  clock.advance(1000)
  expect(await failed).toMatch(
    /A login for items:write is open in the browser, at .*: finish the login, and call again$/,
  )
})

test('A login that failed is no longer open', async () => {
  await using w = await createTestEnvironment()
  w.browser.transformAnswer = () => {
    throw new Error('The person closed the page')
  }
  const auth = w.createOAuth()
  await expect(auth.login(w.resource.url)).rejects.toThrow('The person closed the page')
  expect(auth.pendingLogin(w.resource.url)).toBeUndefined()
})

test('A call that waits for the login of another process says so, and opens no page once its caller has gone', async () => {
  await using w = await createTestEnvironment()
  const folder = await mkdtemp(join(tmpdir(), 'pending-login-'))
  const [visited, mayReturn] = [createGate(), createGate()]
  w.browser.transformAnswer = async () => {
    visited.open()
    await mayReturn.opened
    throw new Error('The person closed the page')
  }
  const shown: string[] = []
  const redirect = { ...w.browser, showWait: (message: string) => void shown.push(message) }
  const createProgram = () => w.createOAuth({ redirect, store: fileStore('caller', { folder }) })
  const [first, second] = [createProgram(), createProgram()]
  const failed = first.login(w.resource.url).catch(String)
  await visited.opened
  const caller = new AbortController()
  const gone = second.login(w.resource.url, { signal: caller.signal }).catch(() => 'gone')
  await expect.poll(() => second.pendingLogin(w.resource.url)).toBeDefined()
  const { issuer } = w.authorizationServer
  const message = `Waiting for another login at "${issuer}", which may be open in the browser of another process`
  expect(second.pendingLogin(w.resource.url)).toMatchObject({ code: 'login_pending', issuer, message, url: undefined })
  await expect.poll(() => shown, { timeout: 10_000 }).toEqual([message])
  caller.abort()
  mayReturn.open()
  expect([await failed, await gone]).toEqual(['Error: The person closed the page', 'gone'])
  await expect.poll(() => second.pendingLogin(w.resource.url)).toBeUndefined()
  expect(w.browser.visited).toHaveLength(1)
  await rm(folder, { recursive: true, force: true })
})
