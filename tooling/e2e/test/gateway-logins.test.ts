import { createClient, type Client } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { hostSecretOf } from './token-exchange-setup.ts'
import type { LastPage } from './follow-pages.ts'
import { accounts, createLoginSetup, type LoginSetup, type User } from './login-setup.ts'

/** A host of a user. */
interface Host extends AsyncDisposable {
  readonly client: Client
  readonly token: string
  readonly pages: LastPage[]
  readonly links: string[]
}

async function openHost(world: LoginSetup, user: User): Promise<Host> {
  const { company, url } = world
  const token = await company.issue({ id: user, secret: hostSecretOf(user), resource: url, scope: 'use' })
  const connection = connectHttp(url, { headers: { authorization: `Bearer ${token}` } })
  const pages: Host['pages'] = []
  const links: string[] = []
  const client = createClient(connection, {
    name: 'host',
    version: '1.0.0',
    openUrl: async (asked) => {
      links.push(asked.url)
      pages.push(await world.visit(asked.url, user))
      return { action: 'accept' }
    },
  })
  return { client, token, pages, links, [Symbol.asyncDispose]: () => connection.close() }
}

const namesOf = async ({ client }: Host): Promise<string[]> => (await client.listTools()).map(({ name }) => name)

test('two users log in at an upstream through any instance, and no data of one reaches the other, the store or the log [GWY-002 GWY-003 GWY-008 TSR-001]', async () => {
  await using world = await createLoginSetup()
  await using ada = await openHost(world, 'ada')
  await using grace = await openHost(world, 'grace')
  const received: unknown[] = []
  for (const [host, user] of [
    [ada, 'ada'],
    [grace, 'grace'],
  ] as const) {
    expect(await namesOf(host)).toEqual(['crm__login'])
    // One user calls through the search over tools, which is a direct call for every rule.
    const call = async (name: string): Promise<unknown> =>
      textOf(await (user === 'ada' ? host.client.callTool(name) : host.client.callTool('call_tool', { name })))
    expect(await call('crm__login')).toBe('You are logged in to crm.')
    expect(host.pages).toMatchObject([{ status: 200 }])
    // Requests alternate between the instances.
    for (const _ of [1, 2, 3]) {
      const answer = await call('crm__whoami')
      received.push(answer)
      expect(answer).toBe(`${accounts[user]} at crm`)
      expect(await namesOf(host)).toEqual(['crm__whoami'])
    }
  }
  expect(world.upstream.tokens.size).toBe(2)
  const tokens = [...world.upstream.tokens, ada.token, grace.token]
  const stored = await world.readStore()
  expect(stored.length).toBeGreaterThan(4)
  // A result names the account at the upstream, and has no token.
  for (const text of received) for (const each of [...tokens, 'canary']) expect(text).not.toContain(each)
  for (const text of [...stored, ...world.logged, ...ada.links, ...grace.links])
    for (const each of [...tokens, 'canary', 'ada.crm']) expect(text).not.toContain(each)
})

test('while the store is unreachable, calls fail, and no login is lost', async () => {
  await using world = await createLoginSetup()
  await using ada = await openHost(world, 'ada')
  await using grace = await openHost(world, 'grace')
  await ada.client.callTool('crm__login')
  expect(textOf(await ada.client.callTool('crm__whoami'))).toBe('ada.crm at crm')
  await world.redis.kill()
  const error = await grace.client.callTool('crm__whoami', {}, { maxResendMs: 0 }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ rpc: { data: { upstream: 'crm', reason: 'credential', retryAfterMs: 2000 } } })
  await world.redis.restart()
  // A call that needs a login asks for it, also through the search.
  expect(textOf(await grace.client.callTool('call_tool', { name: 'crm__whoami' }))).toBe('grace.crm at crm')
  for (const _ of [1, 2]) {
    expect(textOf(await grace.client.callTool('crm__whoami'))).toBe('grace.crm at crm')
    expect(textOf(await ada.client.callTool('crm__whoami'))).toBe('ada.crm at crm')
  }
})
