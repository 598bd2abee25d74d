import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { memoryStore, randomKey, sealedState, singleUseState, storedState, type StateStore } from '../src/node.ts'
import { createStateTable, type PostgresStore, postgresStore } from '../src/postgres.ts'
import { type RedisStore, redisStore } from '../src/redis.ts'

const minute = 60_000

/** Tests the requirements of every store. `other` is a second connection to the same store, as another instance has. */
function keepsContract(stores: () => { readonly one: StateStore; readonly other: StateStore }): void {
  let last = 0
  const fresh = (): string => `key-${++last}`

  test('what one instance adds, another gets', async () => {
    const { one, other } = stores()
    const key = fresh()
    expect(await one.add(key, '{"text":"ünï 😀 \\u0000"}', minute)).toBe(true)
    expect(await other.get(key)).toBe('{"text":"ünï 😀 \\u0000"}')
  })

  test('an existing key is not added again, and keeps its value', async () => {
    const { one, other } = stores()
    const key = fresh()
    await one.add(key, 'first', minute)
    expect(await other.add(key, 'second', minute)).toBe(false)
    expect(await one.get(key)).toBe('first')
  })

  test('a missing or deleted key has no value, and can be added', async () => {
    const { one, other } = stores()
    const key = fresh()
    expect(await one.get(key)).toBeUndefined()
    await one.delete(key)
    await one.add(key, 'first', minute)
    await other.delete(key)
    expect(await one.get(key)).toBeUndefined()
    expect(await one.add(key, 'second', minute)).toBe(true)
  })

  test('an expired value is gone, and its key can be added again', async () => {
    const { one, other } = stores()
    const key = fresh()
    await one.add(key, 'short', 1)
    await expect.poll(() => other.get(key)).toBeUndefined()
    expect(await other.add(key, 'long', minute)).toBe(true)
    expect(await one.get(key)).toBe('long')
  })

  test('of 50 simultaneous additions of one key, one succeeds', async () => {
    const { one, other } = stores()
    const key = fresh()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? one : other).add(key, String(at), minute)),
    )
    expect(answers.filter(Boolean)).toHaveLength(1)
    expect(await one.get(key)).toBe(String(answers.indexOf(true)))
  })

  test('of 50 simultaneous additions of an expired key, one succeeds', async () => {
    const { one, other } = stores()
    const key = fresh()
    await one.add(key, 'short', 1)
    await expect.poll(() => one.get(key)).toBeUndefined()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? one : other).add(key, String(at), minute)),
    )
    expect(answers.filter(Boolean)).toHaveLength(1)
  })

  test('a key that is let expire does so then, one that would earlier keeps its time, and none is made', async () => {
    const { one, other } = stores()
    const [late, early, none] = [fresh(), fresh(), fresh()]
    await one.add(late, 'x', minute)
    await one.add(early, 'x', 1)
    for (const key of [late, early, none]) await other.expire?.(key, key === late ? 1 : minute)
    await expect.poll(() => one.get(late)).toBeUndefined()
    await expect.poll(() => one.get(early)).toBeUndefined()
    expect(await one.get(none)).toBeUndefined()
  })

  test('a value of one megabyte is returned unchanged', async () => {
    const { one, other } = stores()
    const key = fresh()
    const value = 'x'.repeat(1_000_000)
    await one.add(key, value, minute)
    expect(await other.get(key)).toBe(value)
  })

  test('a state that one instance stored opens on another', async () => {
    const { one, other } = stores()
    const token = await storedState({ store: one }).seal({ step: 2 }, { purpose: 'test', binding: 'ada' })
    expect(await storedState({ store: other }).open(token, { purpose: 'test', binding: 'ada' })).toEqual({ step: 2 })
    await expect(storedState({ store: other }).open(token, { purpose: 'test', binding: 'bob' })).rejects.toMatchObject({
      code: 'binding',
    })
  })

  test('of 50 simultaneous uses of a token over two instances, one succeeds [MRT-013]', async () => {
    const { one, other } = stores()
    const keys = [randomKey()]
    const codecs = [singleUseState(sealedState({ keys }), one), singleUseState(sealedState({ keys }), other)]
    const token = await sealedState({ keys }).seal('once', { purpose: 'test' })
    const opened = await Promise.allSettled(
      Array.from({ length: 50 }, (_, at) => codecs[at % 2]?.open(token, { purpose: 'test' })),
    )
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const reasons = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(new Set(reasons)).toEqual(new Set(['used']))
  })
}

describe('the memory store', () => {
  const store = memoryStore()
  keepsContract(() => ({ one: store, other: store }))

  test('a full store rejects new values until one expires', async () => {
    let now = 0
    const small = memoryStore({ maxEntries: 2, runtime: { now: () => now } })
    await small.add('a', '1', 10)
    await small.add('b', '2', 20)
    await expect(small.add('c', '3', 10)).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'The store in memory is full (maxEntries: it keeps 2 values; the limit is 2): try again in 10 ms',
      retryAfterMs: 10,
    })
    expect([await small.get('a'), await small.get('b')]).toEqual(['1', '2'])
    now = 10
    expect(await small.add('c', '3', 10)).toBe(true)
    expect([await small.get('a'), await small.get('b')]).toEqual([undefined, '2'])
  })

  test('its character limit excludes deleted and expired values', async () => {
    const small = memoryStore({ maxCharacters: 10 })
    await small.add('a', '123456789', minute)
    await expect(small.add('b', '1', minute)).rejects.toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining(
        'maxCharacters: it keeps 10 characters, 2 more were to be added; the limit is 10',
      ),
    })
    await expect(small.add('long', '1'.repeat(10), 1)).rejects.toMatchObject({
      detail: expect.stringContaining('raise the limit'),
      retryAfterMs: undefined,
    })
    await small.delete('a')
    expect(await small.add('b', '1', minute)).toBe(true)
  })

  test('an owner who has as much as one may have is refused, and no other', async () => {
    let now = 0
    const shared = memoryStore({ maxEntries: 40, runtime: { now: () => now } })
    const [ada, bob] = [shared.forOwner?.('ada'), shared.forOwner?.('bob')]
    for (const key of ['a', 'b', 'c', 'd']) await ada?.add(key, '1', 50)
    const refused = {
      code: 'quota',
      detail:
        'The store in memory has reached the limit of one owner (maxEntriesPerOwner: it keeps 4 values; the limit is 4): try again in 50 ms',
      quota: { limit: 'states', max: 4 },
      retryAfterMs: 50,
    }
    await expect(ada?.add('e', '1', 50)).rejects.toMatchObject(refused)
    expect(await bob?.add('e', '1', 50)).toBe(true)
    expect(await shared.add('f', '1', 50)).toBe(true)
    now = 20
    await expect(ada?.add('g', '1', 50)).rejects.toMatchObject({ retryAfterMs: 30 })
    now = 50
    expect(await ada?.add('g', '1', 50)).toBe(true)
  })

  test('a value that is deleted or expires no longer counts for its owner, also when another owner does it', async () => {
    let now = 0
    const shared = memoryStore({ maxEntriesPerOwner: 2, runtime: { now: () => now } })
    const ada = shared.forOwner?.('ada')
    await ada?.add('a', '1', minute)
    await ada?.add('b', '1', minute)
    await shared.delete('a')
    await shared.delete('a')
    expect(await ada?.add('c', '1', minute)).toBe(true)
    await expect(ada?.add('d', '1', minute)).rejects.toMatchObject({ code: 'quota', retryAfterMs: minute })
    await shared.expire?.('b', 10)
    await expect(ada?.add('d', '1', minute)).rejects.toMatchObject({ retryAfterMs: 10 })
    now = 10
    expect(await ada?.add('d', '1', minute)).toBe(true)
  })

  test('the characters of one owner have a limit as well', async () => {
    const shared = memoryStore({ maxCharacters: 100 })
    const ada = shared.forOwner?.('ada')
    await ada?.add('a', '12345678', minute)
    await expect(ada?.add('b', '1', minute)).rejects.toMatchObject({
      quota: { limit: 'bytes', max: 10 },
      retryAfterMs: expect.any(Number),
    })
    await expect(ada?.add('c', '1'.repeat(10), minute)).rejects.toMatchObject({ retryAfterMs: undefined })
    expect(await shared.forOwner?.('bob').add('b', '12345678', minute)).toBe(true)
  })
})

describeNeeding('redis', 'the store in Redis', (program) => {
  let server: RealRedis
  let clients: TestClient[] = []
  let stores: { one: StateStore; other: RedisStore }
  beforeAll(async () => {
    server = await startRedis(program)
    clients = [await connectRedis(server.path)]
    const [one] = clients
    if (!one) throw new Error('a client was made')
    stores = { one: redisStore(one), other: redisStore(server.url) }
  })
  afterAll(async () => {
    for (const client of clients) client.destroy()
    await stores.other.close()
    await server.close()
  })
  keepsContract(() => stores)

  test.each([
    ['a client', () => clients[0] ?? ''],
    ['a URL', () => server.url],
  ] as const)(
    'over %s: when Redis is killed, calls fail as unavailable; after its restart nothing is lost',
    async (_, redis) => {
      const store = redisStore(redis(), { timeoutMs: 500 })
      const codec = storedState({ store })
      // The limit that the outage needs also holds before it, where a busy machine may miss it.
      const token = await vi.waitFor(() => codec.seal('kept', { purpose: 'test' }), 60_000)
      await server.kill()
      await expect(codec.open(token, { purpose: 'test' })).rejects.toMatchObject({ code: 'unavailable' })
      await expect(store.add('while-down', '1', minute)).rejects.toMatchObject({ code: 'unavailable' })
      await server.restart()
      await expect.poll(() => codec.open(token, { purpose: 'test' }).catch(({ code }) => code)).toBe('kept')
      // A command that timed out must not be executed later.
      expect(await store.get('while-down')).toBeUndefined()
      await store.close()
    },
  )

  test('a prefix separates two applications', async () => {
    const [client] = clients
    if (!client) throw new Error('a client was made')
    const mine = redisStore(client, { prefix: 'mine:' })
    await mine.add('shared', '1', minute)
    expect(await redisStore(client, { prefix: 'yours:' }).get('shared')).toBeUndefined()
    expect(await client.get('mine:shared')).toBe('1')
  })
})

describe('the store in PostgreSQL', () => {
  let server: RealPostgres
  let pools: ReturnType<RealPostgres['pool']>[] = []
  let stores: { one: PostgresStore; other: PostgresStore }
  beforeAll(async () => {
    server = await startPostgres()
    const one = server.pool()
    pools = [one]
    await createStateTable(one)
    await createStateTable(server.url)
    stores = { one: postgresStore(one), other: postgresStore(server.url) }
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
    await stores.other.close()
    await server.close()
  })
  keepsContract(() => stores)

  test('six instances that start at once on a new database create the table', async () => {
    const starting = Array.from({ length: 6 }, () => server.pool({ max: 1 }))
    const [first = server.pool()] = starting
    try {
      for (let round = 0; round < 5; round++) {
        await Promise.all(starting.map((pool) => createStateTable(pool, `common_start_${round}`)))
        const store = postgresStore(first, { table: `common_start_${round}` })
        expect(await store.add('key', 'value', minute)).toBe(true)
      }
    } finally {
      for (const pool of starting) await pool.end()
    }
  })

  test('expired rows, and no others, are deleted on request', async () => {
    const { one } = stores
    await one.removeExpiredRows()
    await one.add('expired-1', 'x', 1)
    await one.add('expired-2', 'x', 1)
    await one.add('alive', 'x', minute)
    await expect.poll(() => one.get('expired-2')).toBeUndefined()
    expect(await one.removeExpiredRows()).toBe(2)
    expect(await one.get('alive')).toBe('x')
  })

  test.each(['mcp state', 'a.b.c', 'x"; DROP TABLE mcp_state; --', ''])('the table name %j is rejected', (table) => {
    expect(() => postgresStore(server.pool(), { table })).toThrow(/table is/)
  })

  test('a table that was there and is gone, because the database came back empty, is created again', async () => {
    const pool = server.pool()
    pools.push(pool)
    const store = postgresStore(pool, { table: 'lost' })
    await expect(store.get('never created')).rejects.toMatchObject({ code: 'unavailable' })
    await createStateTable(pool, 'lost')
    await store.add('before', '1', minute)
    await pool.query('DROP TABLE lost')
    const added = await Promise.all(['one', 'two', 'three'].map((key) => store.add(key, '1', minute)))
    expect([...added, await store.get('before'), await store.get('one')]).toEqual([true, true, true, undefined, '1'])
  })

  test('when PostgreSQL stops, calls fail as unavailable; after its restart nothing is lost', async () => {
    const { one } = stores
    const codec = storedState({ store: one })
    const token = await codec.seal('kept', { purpose: 'test' })
    await server.kill()
    await expect(codec.open(token, { purpose: 'test' })).rejects.toMatchObject({ code: 'unavailable' })
    await expect(one.add('while-down', '1', minute)).rejects.toMatchObject({ code: 'unavailable' })
    await server.restart()
    await expect.poll(() => codec.open(token, { purpose: 'test' }).catch(({ code }) => code)).toBe('kept')
    expect(await one.get('while-down')).toBeUndefined()
  })
})

test('a store that never answers is unavailable after its time limit', async () => {
  const store = redisStore({ sendCommand: () => new Promise(() => {}) }, { timeoutMs: 1 })
  await expect(store.get('key')).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The state store is unavailable',
  })
})
