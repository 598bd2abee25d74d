import { type Context, createServer, tool } from '@x/server'
import { createClient } from '@x/client'
import { type SessionsClient, isSessionNotFound, sessionsClient } from '@x/sessions/client'
import { type SessionsApi, sessions as serverSessions } from '@x/sessions/server'
import { memoryStore, randomKey, sealedState, type StateStore, storedState } from '@x/state-codec'
import { createStateTable, postgresStore } from '@x/state-codec/postgres'
import { redisStore } from '@x/state-codec/redis'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { describeNeeding } from '@tooling/vitest/needs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'

type Notes = { readonly notes: readonly string[] }

/** Two instances of one server, each with its own connection to the store. */
interface Fleet {
  readonly servers: readonly { readonly sessions: SessionsApi }[]
  readonly clients: readonly { readonly sessions: SessionsClient }[]
}

function fleetOf(stores: readonly StateStore[], options: { readonly large?: boolean } = {}): Fleet {
  const codec = sealedState({ keys: [randomKey()] })
  const instances = stores.map((store) => {
    const stateCodec = options.large === true ? storedState({ store }) : undefined
    const schema = z.object({ notes: z.array(z.string()) })
    const state = { schema, initial: { notes: [] } as Notes, codec: stateCodec }
    const sessions = serverSessions({ store, state })
    const note = tool('note', {
      description: 'Notes a text',
      input: z.object({ text: z.string(), careful: z.boolean().optional() }),
      async run({ text, careful }, ctx: Context) {
        const session = sessions.of(ctx)
        if (careful === true && !(await session.claim())) return 'too late'
        session.setState({ notes: [...session.state.notes, text] })
        return session.state.notes.map((one) => one.slice(0, 10)).join(' ')
      },
    })
    const server = createServer({
      name: 'demo',
      version: '1',
      state: codec,
      strictReplay: false,
      tools: [note],
      extensions: [sessions],
    })
    return { server }
  })
  return {
    servers: instances.map(({ server }) => server),
    clients: instances.map(({ server }) =>
      createClient(server, {
        name: 'host',
        version: '1',
        extensions: [sessionsClient({ target: 'fleet', user: null })],
      }),
    ),
  }
}

const textOf = ({ content }: { readonly content: readonly unknown[] }): unknown => {
  const [block] = content
  return typeof block === 'object' && block !== null && 'text' in block ? block.text : undefined
}

/** What sessions do with any store. */
function keepsSessions(stores: () => readonly StateStore[]): void {
  const [first, second] = [0, 1]

  test('a session that one instance created is used and deleted at another, and is over at both [SES-011 SES-012]', async () => {
    const { clients } = fleetOf(stores())
    const session = await clients[first]?.sessions.create()
    const there = clients[second]?.sessions.resume(session?.serialize())
    expect(await there?.callTool('note', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] })
    await there?.delete()
    const failure: unknown = await session?.callTool('note', { text: 'b' }).catch((error: unknown) => error)
    expect(isSessionNotFound(failure)).toBe(true)
  })

  test('a session that is revoked at one instance is over at all [SES-012]', async () => {
    const { clients, servers } = fleetOf(stores())
    const session = await clients[first]?.sessions.create()
    await servers[second]?.sessions.revoke(session?.id ?? '')
    const failure: unknown = await session?.listTools().catch((error: unknown) => error)
    expect([isSessionNotFound(failure), session?.ended]).toEqual([true, true])
  })

  test('a state that is too large for a message is kept in the store, and the message contains its handle', async () => {
    const { clients } = fleetOf(stores(), { large: true })
    const session = await clients[first]?.sessions.create()
    const text = 'x'.repeat(200_000)
    await session?.callTool('note', { text })
    const kept = session?.serialize()
    expect(kept?.session.state).toMatch(/^[\w-]{43}$/)
    const there = await clients[second]?.sessions.resume(kept).callTool('note', { text: 'y' })
    expect(there && textOf(there)).toBe('xxxxxxxxxx y')
  })

  test('of 20 calls at two instances that claim the same revision, one may write [SES-009]', async () => {
    const { clients } = fleetOf(stores())
    const session = await clients[first]?.sessions.create()
    const both = [session, clients[second]?.sessions.resume(session?.serialize())]
    const calls = Array.from({ length: 20 }, (_, at) =>
      both[at % 2]?.callTool('note', { text: `${at}`, careful: true }),
    )
    const texts = (await Promise.all(calls)).map((result) => result && textOf(result))
    expect(texts.filter((text) => text !== 'too late')).toHaveLength(1)
  })

  test('who reads the store has no id that could be used', async () => {
    const kept: string[] = []
    const watched = stores().map(
      (store): StateStore => ({
        ...store,
        forOwner: undefined,
        add: (key, value, ttlMs) => {
          kept.push(key, value)
          return store.add(key, value, ttlMs)
        },
      }),
    )
    const { clients } = fleetOf(watched)
    const session = await clients[first]?.sessions.create()
    await session?.callTool('note', { text: 'a', careful: true })
    expect(kept.length).toBeGreaterThan(2)
    // Keys are digests. The value of a claim is a random one of its call, in the form of a UUID.
    for (const text of kept) expect(text).toMatch(/^(?:session(?:-claim)?:[0-9a-f]{64}|1|[0-9a-f-]{36})$/)
  })
}

describe('sessions with a store in memory', () => {
  const store = memoryStore()
  keepsSessions(() => [store, store])
})

describeNeeding('redis', 'sessions with Redis', (program) => {
  let server: RealRedis
  let clients: TestClient[] = []
  beforeAll(async () => {
    server = await startRedis(program)
    clients = [await connectRedis(server.path), await connectRedis(server.path)]
  })
  afterAll(async () => {
    for (const client of clients) client.destroy()
    await server.close()
  })
  keepsSessions(() => clients.map((client) => redisStore(client)))

  test('a call fails while Redis is gone, and the session is there when it is back', async () => {
    const { clients: callers } = fleetOf(clients.map((client) => redisStore(client, { timeoutMs: 500 })))
    // The limit that the outage needs also holds before it, where a busy machine may miss it.
    const session = await vi.waitFor(() => callers[0]?.sessions.create(), 60_000)
    await server.kill()
    await expect(session?.callTool('note', { text: 'a' })).rejects.toMatchObject({ rpc: { code: -32603 } })
    expect(session?.ended).toBe(false)
    await server.restart()
    const retried = async (): Promise<unknown> => {
      const result = await session?.callTool('note', { text: 'b' }).catch(() => undefined)
      return result && textOf(result)
    }
    await expect.poll(retried).toBe('b')
  })
})

describe('sessions with PostgreSQL', () => {
  let server: RealPostgres
  let pools: ReturnType<RealPostgres['pool']>[] = []
  beforeAll(async () => {
    server = await startPostgres()
    pools = [server.pool(), server.pool()]
    for (const pool of pools) await createStateTable(pool)
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
    await server.close()
  })
  keepsSessions(() => pools.map((pool) => postgresStore(pool)))
})
