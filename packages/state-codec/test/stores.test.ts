import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { memoryStore, randomKey, sealed, singleUse, stored, type StateStore } from '../src/node.ts'
import { createStateTable, type PostgresStore, postgresStore } from '../src/postgres.ts'
import { redisStore } from '../src/redis.ts'

const minute = 60_000

/** What every store must do. `other` is a second connection to the same store, as another instance has. */
function keepsContract(stores: () => { readonly one: StateStore; readonly other: StateStore }): void {
  let last = 0
  const fresh = (): string => `key-${++last}`

  test('what one instance adds, another gets', async () => {
    const { one, other } = stores()
    const key = fresh()
    expect(await one.add(key, '{"text":"ünï 😀 \\u0000"}', minute)).toBe(true)
    expect(await other.get(key)).toBe('{"text":"ünï 😀 \\u0000"}')
  })

  test('a key that is there is not added again, and keeps its value', async () => {
    const { one, other } = stores()
    const key = fresh()
    await one.add(key, 'first', minute)
    expect(await other.add(key, 'second', minute)).toBe(false)
    expect(await one.get(key)).toBe('first')
  })

  test('what was never added or is deleted is not there, and may be added', async () => {
    const { one, other } = stores()
    const key = fresh()
    expect(await one.get(key)).toBeUndefined()
    await one.delete(key)
    await one.add(key, 'first', minute)
    await other.delete(key)
    expect(await one.get(key)).toBeUndefined()
    expect(await one.add(key, 'second', minute)).toBe(true)
  })

  test('a value that has expired is gone, and its key may be added again', async () => {
    const { one, other } = stores()
    const key = fresh()
    await one.add(key, 'short', 1)
    await expect.poll(() => other.get(key)).toBeUndefined()
    expect(await other.add(key, 'long', minute)).toBe(true)
    expect(await one.get(key)).toBe('long')
  })

  test('of 50 that add the same key at once, one is told that it was first', async () => {
    const { one, other } = stores()
    const key = fresh()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? one : other).add(key, String(at), minute)),
    )
    expect(answers.filter(Boolean)).toHaveLength(1)
    expect(await one.get(key)).toBe(String(answers.indexOf(true)))
  })

  test('of 50 that add a key that has expired, one is told that it was first', async () => {
    const { one, other } = stores()
    const key = fresh()
    await one.add(key, 'short', 1)
    await expect.poll(() => one.get(key)).toBeUndefined()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? one : other).add(key, String(at), minute)),
    )
    expect(answers.filter(Boolean)).toHaveLength(1)
  })

  test('a value of a megabyte comes back whole', async () => {
    const { one, other } = stores()
    const key = fresh()
    const value = 'x'.repeat(1_000_000)
    await one.add(key, value, minute)
    expect(await other.get(key)).toBe(value)
  })

  test('a state that one instance stored opens on another', async () => {
    const { one, other } = stores()
    const token = await stored({ store: one }).seal({ step: 2 }, { purpose: 'test', binding: 'ada' })
    expect(await stored({ store: other }).open(token, { purpose: 'test', binding: 'ada' })).toEqual({ step: 2 })
    await expect(stored({ store: other }).open(token, { purpose: 'test', binding: 'bob' })).rejects.toMatchObject({
      code: 'binding',
    })
  })

  test('of 50 uses of a token at once over two instances, one succeeds [MRT-013]', async () => {
    const { one, other } = stores()
    const keys = [randomKey()]
    const codecs = [singleUse(sealed({ keys }), one), singleUse(sealed({ keys }), other)]
    const token = await sealed({ keys }).seal('once', { purpose: 'test' })
    const opened = await Promise.allSettled(
      Array.from({ length: 50 }, (_, at) => codecs[at % 2]?.open(token, { purpose: 'test' })),
    )
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const reasons = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(new Set(reasons)).toEqual(new Set(['used']))
  })
}

describe('the store in memory', () => {
  const store = memoryStore()
  keepsContract(() => ({ one: store, other: store }))

  test('a full store refuses instead of forgetting, until something expires', async () => {
    let now = 0
    const small = memoryStore({ maxEntries: 2, clock: { now: () => now } })
    await small.add('a', '1', 10)
    await small.add('b', '2', 20)
    await expect(small.add('c', '3', 10)).rejects.toMatchObject({ code: 'unavailable' })
    expect([await small.get('a'), await small.get('b')]).toEqual(['1', '2'])
    now = 10
    expect(await small.add('c', '3', 10)).toBe(true)
    expect([await small.get('a'), await small.get('b')]).toEqual([undefined, '2'])
  })

  test('its bound on characters counts what is deleted and expired', async () => {
    const small = memoryStore({ maxCharacters: 10 })
    await small.add('a', '123456789', minute)
    await expect(small.add('b', '1', minute)).rejects.toMatchObject({ code: 'unavailable' })
    await small.delete('a')
    expect(await small.add('b', '1', minute)).toBe(true)
  })
})

describeNeeding('redis', 'the store in Redis', (program) => {
  let server: RealRedis
  let clients: TestClient[] = []
  let stores: { one: StateStore; other: StateStore }
  beforeAll(async () => {
    server = await startRedis(program)
    clients = [await connectRedis(server.path), await connectRedis(server.path)]
    const [one, other] = clients
    if (!one || !other) throw new Error('two clients were made')
    stores = { one: redisStore(one), other: redisStore(other) }
  })
  afterAll(async () => {
    for (const client of clients) client.destroy()
    await server.close()
  })
  keepsContract(() => stores)

  test('when Redis is killed, calls fail as unavailable; after its restart nothing is lost', async () => {
    const [client] = clients
    if (!client) throw new Error('a client was made')
    const store = redisStore(client, { timeoutMs: 500 })
    const codec = stored({ store })
    const token = await codec.seal('kept', { purpose: 'test' })
    await server.kill()
    await expect(codec.open(token, { purpose: 'test' })).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.add('while-down', '1', minute)).rejects.toMatchObject({ code: 'unavailable' })
    await server.restart()
    await expect
      .poll(() => codec.open(token, { purpose: 'test' }).catch(({ code }) => code), { timeout: 10_000 })
      .toBe('kept')
    // What was given up must not be done behind one's back.
    expect(await store.get('while-down')).toBeUndefined()
  })

  test('a prefix keeps two applications apart', async () => {
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
    const [one, other] = [server.pool(), server.pool()]
    pools = [one, other]
    await createStateTable(one)
    await createStateTable(other)
    stores = { one: postgresStore(one), other: postgresStore(other) }
  }, 120_000)
  afterAll(async () => {
    for (const pool of pools) await pool.end()
    await server.close()
  })
  keepsContract(() => stores)

  test('what has expired is removed when asked to, and nothing else', async () => {
    const { one } = stores
    await one.removeExpired()
    await one.add('expired-1', 'x', 1)
    await one.add('expired-2', 'x', 1)
    await one.add('alive', 'x', minute)
    await expect.poll(() => one.get('expired-2')).toBeUndefined()
    expect(await one.removeExpired()).toBe(2)
    expect(await one.get('alive')).toBe('x')
  })

  test.each(['mcp state', 'a.b.c', 'x"; DROP TABLE mcp_state; --', ''])('the table name %j is refused', (table) => {
    expect(() => postgresStore(server.pool(), { table })).toThrow(/table is/)
  })

  test('when PostgreSQL stops, calls fail as unavailable; after its restart nothing is lost', async () => {
    const { one } = stores
    const codec = stored({ store: one })
    const token = await codec.seal('kept', { purpose: 'test' })
    await server.kill()
    await expect(codec.open(token, { purpose: 'test' })).rejects.toMatchObject({ code: 'unavailable' })
    await expect(one.add('while-down', '1', minute)).rejects.toMatchObject({ code: 'unavailable' })
    await server.restart()
    await expect
      .poll(() => codec.open(token, { purpose: 'test' }).catch(({ code }) => code), { timeout: 10_000 })
      .toBe('kept')
    expect(await one.get('while-down')).toBeUndefined()
  }, 60_000)
})

test('a store that never answers is unavailable after its time', async () => {
  const store = redisStore({ sendCommand: () => new Promise(() => {}) }, { timeoutMs: 1 })
  await expect(store.get('key')).rejects.toMatchObject({ code: 'unavailable', message: 'Invalid or expired state' })
})
