import { type Client, createClient } from '@x/client'
import type { CallToolResult } from '@x/schema'
import { type Context, createServer, tool } from '@x/server'
import { type SessionsClient, isSessionNotFound, sessionsClient } from '@x/sessions/client'
import { sessions as serverSessions, type Sessions } from '@x/sessions/server'
import { randomKey, sealedState } from '@x/state-codec'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Definition, overEveryTransport, type Peer } from './over-every-transport.ts'

type Basket = { readonly items: readonly string[] }

const host = { name: 'e2e-client', version: '1.0.0' }
const textOf = ({ content }: CallToolResult): unknown =>
  content.map((block) => ('text' in block ? block.text : undefined)).join()
type SessionsPeer = Client & { readonly sessions: SessionsClient }
const sessionsOf = (peer: Peer, owner: { target?: string; user?: string | null } = {}): SessionsPeer =>
  createClient(peer.exchange, { ...host, extensions: [sessionsClient(owner)] })

interface BasketSetup {
  readonly sessions: Sessions<Basket>
  readonly definition: Definition
  readonly deleted: unknown[]
}

/**
 * Creates a session type that stores items. `add` adds an item, `pay` asks first, and `secret` is visible only in
 * sessions.
 */
function createBasket(): BasketSetup {
  const deleted: unknown[] = []
  const keys = [randomKey()]
  const sessions = serverSessions({
    state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } as Basket },
    onDelete: ({ state, principal }) => void deleted.push([state, principal?.subject]),
  })
  const add = tool('add', {
    description: 'Adds an item',
    input: z.object({ item: z.string() }),
    run({ item }, ctx) {
      const session = sessions.of(ctx)
      session.setState({ items: [...session.state.items, item] })
      return session.state.items.join(' ')
    },
  })
  const pay = tool('pay', {
    description: 'Asks, and empties the basket',
    async run(_args, ctx: Context) {
      const session = sessions.of(ctx)
      const { sure } = await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) })
      const paid = session.state.items.join(' ')
      if (sure) session.setState({ items: [] })
      return `paid ${paid}`
    },
  })
  const secret = tool('secret', {
    description: 'Is visible only in a session',
    visibleTo: sessions.isInSession,
    run: () => 'ran',
  })
  return {
    sessions,
    deleted,
    definition: { tools: [add, pay, secret], state: sealedState({ keys }), extensions: [sessions] },
  }
}

overEveryTransport('sessions', (serve) => {
  test('are declared, created, used, and deleted at the end of their scope [SES-001 SES-002 SES-006 SES-007 SES-011]', async () => {
    const { definition, deleted } = createBasket()
    await using served = await serve(definition)
    const client = sessionsOf(served.connect())
    expect((await client.discover()).capabilities).toMatchObject({ sessions: {} })
    {
      await using session = await client.sessions.create()
      expect(Date.parse(session.expiresAt ?? '')).toBeGreaterThan(0)
      await session.callTool('add', { item: 'bread' })
      expect(textOf(await session.callTool('add', { item: 'milk' }))).toBe('bread milk')
    }
    expect(deleted).toEqual([[{ items: ['bread', 'milk'] }, undefined]])
  })

  test('of one client and of several are independent', async () => {
    const { definition } = createBasket()
    await using served = await serve(definition)
    const one = sessionsOf(served.connect({ subject: 'ada' }))
    const other = sessionsOf(served.connect({ subject: 'bob' }))
    const all = await Promise.all([one, one, other, other].map(({ sessions }) => sessions.create()))
    for (const item of ['a', 'b', 'c']) {
      await Promise.all(all.map((session, at) => session.callTool('add', { item: `${item}${at}` })))
    }
    const texts = await Promise.all(all.map((session) => session.callTool('add', { item: 'end' })))
    expect(texts.map(textOf)).toEqual([0, 1, 2, 3].map((at) => `a${at} b${at} c${at} end`))
  })

  test('of one user are not found by another user, and continue for their own [SES-012 SES-013]', async () => {
    const { definition } = createBasket()
    await using served = await serve(definition)
    const owner = { target: 'shop', user: 'ada' }
    const mine = await sessionsOf(served.connect({ subject: 'ada' }), owner).sessions.create()
    await mine.callTool('add', { item: 'mine' })
    // Eve uses the serialized session of Ada with the settings of Ada.
    const stolen = sessionsOf(served.connect({ subject: 'eve' }), owner).sessions.resume(mine.serialize())
    const failure: unknown = await stolen.callTool('add', { item: 'x' }).catch((error: unknown) => error)
    expect([isSessionNotFound(failure), stolen.ended]).toEqual([true, true])
    expect(textOf(await mine.callTool('add', { item: 'still' }))).toBe('mine still')
  })

  test('continue in another process, over another connection [SES-004 SES-005]', async () => {
    const { definition } = createBasket()
    await using served = await serve(definition)
    const owner = { target: 'shop', user: null }
    const session = await sessionsOf(served.connect(), owner).sessions.create()
    await session.callTool('add', { item: 'a' })
    const serialized: unknown = JSON.parse(JSON.stringify(session.serialize()))
    const resumed = sessionsOf(served.connect(), owner).sessions.resume(serialized)
    expect(textOf(await resumed.callTool('add', { item: 'b' }))).toBe('a b')
  })

  test('keep their state while a call asks, and have the state that the call sets [SES-007]', async () => {
    const { definition } = createBasket()
    await using served = await serve(definition)
    const session = await sessionsOf(served.connect()).sessions.create()
    await session.callTool('add', { item: 'a' })
    const elicit = async () => {
      // The session continues while the user answers. The question is not bound to the state of the session.
      await session.callTool('add', { item: 'b' })
      return { action: 'accept', content: { sure: true } } as const
    }
    expect(textOf(await session.callTool('pay', {}, { elicit }))).toBe('paid a b')
    expect(textOf(await session.callTool('add', { item: 'c' }))).toBe('c')
  })

  test('show tools that are hidden outside, and the client caches no list across them [SES-018]', async () => {
    const { definition } = createBasket()
    await using served = await serve(definition)
    const client = sessionsOf(served.connect())
    const session = await client.sessions.create()
    const namesOf = async (caller: Pick<SessionsPeer, 'listTools'>) =>
      (await caller.listTools()).map(({ name }) => name)
    for (let times = 0; times < 2; times += 1) {
      expect(await namesOf(client)).toEqual(['add', 'pay'])
      expect(await namesOf(session)).toEqual(['add', 'pay', 'secret'])
    }
    await expect(client.callTool('secret')).rejects.toMatchObject({ rpc: { code: -32602 } })
    expect(textOf(await session.callTool('secret'))).toBe('ran')
  })

  test('that were deleted are not found by other clients that know their ids [SES-012]', async () => {
    const { definition } = createBasket()
    await using served = await serve(definition)
    const client = sessionsOf(served.connect(), { target: 'shop', user: null })
    const session = await client.sessions.create()
    const other = client.sessions.resume(session.serialize())
    await session.delete()
    const failure: unknown = await other.listTools().catch((error: unknown) => error)
    expect(failure).toMatchObject({
      rpc: { code: -32043, message: 'Session not found', data: { sessionId: session.id } },
    })
  })
})

describe('over HTTP', () => {
  interface Seen {
    readonly method: string | null
    readonly sent: string | null
    readonly answered: string | null
  }

  test('only requests and responses of a session repeat its id in Mcp-Session-Id [SES-017]', async () => {
    const { definition } = createBasket()
    const server = createServer({ name: 'shop', version: '1', ...definition })
    await using http = await serveHttp(server)
    const seen: Seen[] = []
    const observed: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      const response = await fetch(request)
      const [method, sent] = [request.headers.get('mcp-method'), request.headers.get('mcp-session-id')]
      seen.push({ method, sent, answered: response.headers.get('mcp-session-id') })
      return response
    }
    await using connection = connectHttp(http.url, { fetch: observed })
    const client = createClient(connection, { ...host, extensions: [sessionsClient()] })
    await client.listTools()
    const session = await client.sessions.create()
    await session.callTool('add', { item: 'a' })
    await session.delete()
    const { id } = session
    expect(seen).toEqual([
      { method: 'tools/list', sent: null, answered: null },
      { method: 'sessions/create', sent: null, answered: id },
      { method: 'tools/call', sent: id, answered: id },
      { method: 'sessions/delete', sent: id, answered: null },
    ])
  })

  test('a header that names another session than the body is rejected with status 400 [SES-017]', async () => {
    const { definition } = createBasket()
    await using http = await serveHttp(createServer({ name: 'shop', version: '1', ...definition }))
    const statuses: number[] = []
    const forging: typeof fetch = async (input, init) => {
      const headers = new Headers(init?.headers)
      if (headers.has('mcp-session-id')) headers.set('mcp-session-id', 'another')
      const response = await fetch(input, { ...init, headers })
      statuses.push(response.status)
      return response
    }
    await using connection = connectHttp(http.url, { fetch: forging })
    const client = createClient(connection, { ...host, extensions: [sessionsClient()] })
    const session = await client.sessions.create()
    await expect(session.listTools()).rejects.toMatchObject({ rpc: { code: -32020 } })
    expect(statuses.at(-1)).toBe(400)
  })
})
