import { createClient } from '@redis/client'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { memoryBus } from '../src/bus/memory-bus.ts'
import type { Log } from '../src/log.ts'
import { type NetworkBus, postgresBus } from '../src/postgres.ts'
import { redisBus } from '../src/redis.ts'
import { testBusContract } from './support/bus-contract.ts'
import { listenInTest } from './support/record-listener.ts'
import { testWireContract, type WireUnderTest } from './support/wire-contract.ts'

const redisRule = 'use up to 256 printable ASCII characters without spaces, as in mcp:changes'
const postgresRule = 'use up to 63 small letters, digits and underscores, as in mcp_changes'

/** Checks that the first bus receives what both publish, until it is closed. */
async function hearsAndCloses(atUrl: NetworkBus, other: NetworkBus): Promise<void> {
  const topics: string[] = []
  const stop = await atUrl.listen({ onChange: ({ topic }) => topics.push(topic), onGap: () => {} })
  await other.publish({ topic: 'one' })
  await atUrl.publish({ topic: 'two' })
  await expect.poll(() => topics).toEqual(['one', 'two'])
  stop()
  await atUrl.close()
  await other.close()
  await expect(atUrl.publish({ topic: 'three' })).rejects.toMatchObject({ code: 'unavailable' })
}

describe('the bus in memory', () => {
  const errors: unknown[] = []
  const bus = memoryBus({ log: ({ err }) => errors.push(err) })
  testBusContract(() => ({ one: bus, other: bus, third: bus, errors }))
})

describeNeeding('redis', 'the bus over Redis', (program) => {
  let server: RealRedis
  let client: TestClient
  let wire: WireUnderTest
  beforeAll(async () => {
    server = await startRedis(program)
    client = await connectRedis(server.path)
    wire = {
      bus: ({ channel = 'service', ...options } = {}) => redisBus(client, { channel, ...options }),
      sendRaw: (text) => client.sendCommand(['PUBLISH', 'service', text]),
      breakListeners: () => client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']),
      countListeners: async () =>
        String(await client.sendCommand(['CLIENT', 'LIST', 'TYPE', 'pubsub'])).split('id=').length - 1,
      stopServer: server.kill,
      startServer: server.restart,
      freeze: async () => server.freeze(),
      thaw: async () => server.thaw(),
      maxBytes: 65_536,
    }
  })
  afterAll(async () => {
    client.destroy()
    await server.close()
  })
  testWireContract(() => wire)

  test.each(['', 'with space', 'line\nend', 'ü', 'x'.repeat(257)])('the channel %j is rejected', (channel) => {
    expect(() => redisBus(client, { channel })).toThrow(
      new TypeError(`channel is ${JSON.stringify(channel)}: ${redisRule}`),
    )
  })

  test('a bus at a URL receives changes of a bus over a client, and closes only its own client', async () => {
    await hearsAndCloses(redisBus(server.url, { channel: 'url' }), redisBus(client, { channel: 'url' }))
    expect(client.isReady).toBe(true)
  })

  test('a bus at a URL where no Redis listens says why, before its time limit', async () => {
    const bus = redisBus('redis://127.0.0.1:1', { log: () => {} })
    await expect(bus.publish({ topic: 'tools' })).rejects.toThrow('Redis cannot be reached: connect ECONNREFUSED')
    await bus.close()
  })

  test('a bus whose last listener leaves while it connects again keeps no connection', async () => {
    let whileConnecting = (): void => {}
    const duplicate = (): TestClient => {
      const copy = client.duplicate()
      const connect = copy.connect.bind(copy)
      copy.connect = () => {
        const connected = connect()
        whileConnecting()
        return connected
      }
      return copy
    }
    const bus = redisBus({ sendCommand: (args) => client.sendCommand(args), duplicate }, { channel: 'leaving' })
    const countConnections = async () => String(await client.sendCommand(['CLIENT', 'LIST'])).split('id=').length
    const before = await countConnections()
    const stop = await listenInTest(bus, { onChange: () => {}, onGap: () => {} })
    const left = new Promise<void>((resolve) => {
      whileConnecting = () => {
        stop()
        resolve()
      }
    })
    await wire.breakListeners()
    await left
    // What the server has accepted before this command is in its list.
    await expect.poll(countConnections).toBe(before)
    for (let turn = 0; turn < 20; turn++) expect(await countConnections()).toBe(before)
  })

  test('a client with RESP 2 and without a reconnect strategy is connected again', async () => {
    const stubborn = createClient({ RESP: 2, socket: { path: server.path, reconnectStrategy: false } })
    await stubborn.connect()
    const bus = redisBus(stubborn, { channel: 'stubborn' })
    let gaps = 0
    const stop = await listenInTest(bus, { onChange: () => {}, onGap: () => gaps++ })
    await wire.breakListeners()
    await expect.poll(() => gaps).toBe(1)
    stop()
    stubborn.destroy()
  })
})

describe('the bus over PostgreSQL', () => {
  let server: RealPostgres
  let pool: ReturnType<RealPostgres['pool']>
  let wire: WireUnderTest
  const listening = `FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (query LIKE 'LISTEN%' OR query = 'SELECT 1')`
  const signalListeners = async (signal: NodeJS.Signals): Promise<void> => {
    for (const { pid } of frozen) process.kill(pid, signal)
  }
  let frozen: readonly { readonly pid: number }[] = []
  beforeAll(async () => {
    server = await startPostgres()
    pool = server.pool()
    wire = {
      bus: ({ channel = 'service', ...options } = {}) => postgresBus(pool, { channel, ...options }),
      sendRaw: (text) => pool.query('SELECT pg_notify($1, $2)', ['service', text]),
      breakListeners: () => pool.query(`SELECT pg_terminate_backend(pid) ${listening}`),
      countListeners: async () => (await pool.query(`SELECT pid ${listening}`)).rows.length,
      stopServer: server.kill,
      startServer: server.restart,
      freeze: async () => {
        frozen = (await pool.query(`SELECT pid ${listening}`)).rows
        await signalListeners('SIGSTOP')
      },
      thaw: () => signalListeners('SIGCONT'),
      maxBytes: 7_999,
    }
  })
  afterAll(async () => {
    await pool.end()
    await server.close()
  })
  testWireContract(() => wire)

  test.each(['', 'Upper', 'a.b', 'x"; DROP TABLE mcp_state; --', '1st', 'x'.repeat(64)])(
    'the channel %j is rejected',
    (channel) => {
      expect(() => postgresBus(pool, { channel })).toThrow(
        new TypeError(`channel is ${JSON.stringify(channel)}: ${postgresRule}`),
      )
    },
  )

  test('a bus at a URL receives changes of a bus over a pool, and closes only its own pool', async () => {
    await hearsAndCloses(postgresBus(server.url, { channel: 'url' }), postgresBus(pool, { channel: 'url' }))
    expect((await pool.query('SELECT 1')).rows).toHaveLength(1)
  })

  test('the error names a pool without a free connection besides the one that listens', async () => {
    const narrow = server.pool({ max: 1 })
    const bus = postgresBus(narrow, { channel: 'narrow', timeoutMs: 300 })
    // The limit also holds for the first connection, which a busy machine may miss.
    const stop = await vi.waitFor(() => listenInTest(bus, { onChange: () => {}, onGap: () => {} }), 60_000)
    await expect(bus.publish({ topic: 'tools' })).rejects.toThrow(/a connection of the pool free besides the one/)
    stop()
    await narrow.end()
  })

  test('a connection that a pool returns after the time limit is released, and the pool can end', async () => {
    const narrow = server.pool({ max: 1 })
    const held = await narrow.connect()
    const bus = postgresBus(narrow, { channel: 'narrow', timeoutMs: 50 })
    const listen = bus.listen({ onChange: () => {}, onGap: () => {} })
    await expect(listen).rejects.toThrow(/did not answer within 50 ms/)
    held.release()
    await narrow.end()
    expect(narrow.totalCount).toBe(0)
  })

  test('a listener of the bus receives no notifications of another channel to which the application listened on its connection', async () => {
    const narrow = server.pool({ max: 1 })
    await narrow.query('LISTEN application')
    const errors: unknown[] = []
    const log: Log = ({ err }) => void errors.push(err)
    const bus = postgresBus(pool, { channel: 'narrow', listenPool: narrow, log })
    const topics: string[] = []
    const stop = await listenInTest(bus, { onChange: ({ topic }) => topics.push(topic), onGap: () => {} })
    await pool.query('SELECT pg_notify($1, $2)', ['application', '{"topic":"of the application"}'])
    await bus.publish({ topic: 'tools' })
    await expect.poll(() => topics).toEqual(['tools'])
    stop()
    await narrow.end()
    expect(errors).toEqual([])
  })

  test('the listening connection is closed and not returned to the pool, because its next user would receive the channel', async () => {
    const narrow = server.pool({ max: 1 })
    const bus = postgresBus(narrow, { channel: 'narrow' })
    const stop = await listenInTest(bus, { onChange: () => {}, onGap: () => {} })
    stop()
    expect((await narrow.query('SELECT pg_listening_channels()')).rows).toEqual([])
    await narrow.end()
  })

  test('the bus listens over the `listenPool`', async () => {
    const separate = server.pool({ max: 1 })
    const bus = postgresBus(pool, { channel: 'separate', listenPool: separate })
    const topics: string[] = []
    const stop = await listenInTest(bus, { onChange: ({ topic }) => topics.push(topic), onGap: () => {} })
    expect(separate.totalCount).toBe(1)
    await bus.publish({ topic: 'tools' })
    await expect.poll(() => topics).toEqual(['tools'])
    stop()
    await separate.end()
  })
})
