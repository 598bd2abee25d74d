import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { callTool } from '../testing/call.ts'
import type { Reply } from '../testing/http-script.ts'
import { callWithAuth, completeResponse, createTestEnvironment } from '../testing/world.ts'

test.each<[string, Reply]>([
  ['has no such page', { status: 404, body: '<html>' }],
  ['is behind a firewall', { status: 403, body: '<html>' }],
  ['shows a page about its maintenance', { body: '<html>' }],
  ['is temporarily unavailable', { status: 400, body: { error: 'temporarily_unavailable' } }],
])('a call uses the last token while the authorization server %s', async (_, reply) => {
  let time = Date.now()
  await using w = await createTestEnvironment()
  const auth = w.createOAuth({ runtime: { now: () => time } })
  await callWithAuth(w.resource.url, auth)
  time += 3_571_000
  w.authorizationServer.routes.set('/token', () => reply)
  expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
  expect(w.authorizationServer.count('/token')).toBe(2)
})

test('a call uses the last token while the authorization server takes long, and the next call the new one', async () => {
  let time = Date.now()
  await using w = await createTestEnvironment()
  await using connection = connectHttp(w.resource.url, { auth: w.createOAuth({ runtime: { now: () => time } }) })
  await callTool(connection)
  time += 3_571_000
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const respond = w.authorizationServer.routes.get('/token')
  w.authorizationServer.routes.set('/token', (request) => answered.then(() => respond?.(request) ?? {}))
  expect(await callTool(connection)).toMatchObject(completeResponse)
  answer()
  expect(await callTool(connection)).toMatchObject(completeResponse)
  const sentTokens = w.resource.received.map(({ headers }) => headers.authorization).filter((token) => token)
  expect([new Set(sentTokens).size, w.authorizationServer.count('/token')]).toEqual([2, 2])
})

test('logins are counted for five minutes, and no longer after a clock was set back', async () => {
  let time = Date.now()
  await using w = await createTestEnvironment()
  const auth = w.createOAuth({ runtime: { now: () => time } })
  w.authorizationServer.otherGrants.set('authorization_code', (form) => ({
    scope: '',
    resource: form.get('resource') ?? '',
  }))
  w.resource.requiredScopes.set('erase', ['erase'])
  const logins = async (): Promise<number> => {
    for (let calls = 0; calls < 3; calls += 1) await callWithAuth(w.resource.url, auth, 'erase').catch(() => undefined)
    return w.browser.visited.length
  }
  const before = await logins()
  time -= 3_600_000
  expect(await logins()).toBeGreaterThan(before)
})
