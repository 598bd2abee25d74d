import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  isStateError,
  memoryStore,
  randomKey,
  sealedState,
  singleUseState,
  storedState,
  type StateStore,
} from '../src/node.ts'
import { createStateTable, postgresStore } from '../src/postgres.ts'
import { redisStore } from '../src/redis.ts'

const minute = 60_000

interface OwnerQuota {
  readonly maxEntriesPerOwner?: number
  readonly maxCharactersPerOwner?: number
}

/**
 * Tests the quotas of owners. `make` gives the same store with other quotas, `connections` are those that add at once.
 */
function holdsQuotas(make: (quota: OwnerQuota) => StateStore, connections = 1): void {
  let last = 0
  const fresh = (): string => `owner-${++last}`
  const few = (): StateStore => make({ maxEntriesPerOwner: 4 })
  const owned = (store: StateStore, owner: string): StateStore => {
    const share = store.forOwner?.(owner)
    if (share === undefined) throw new Error('the store knows owners')
    return share
  }

  test('an owner who has as much as one may have is refused, and no other', async () => {
    const store = few()
    const [ada, bob] = [fresh(), fresh()]
    for (let at = 0; at < 4; at++) expect(await owned(store, ada).add(`${ada}-${at}`, '1', minute)).toBe(true)
    const error: unknown = await owned(few(), ada)
      .add(`${ada}-5`, '1', minute)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'quota',
      detail: expect.stringMatching(
        /has reached the limit of one owner \(maxEntriesPerOwner: it keeps 4 values; the limit is 4\): try again in \d+ ms$/,
      ),
      quota: { limit: 'states', max: 4 },
    })
    expect(isStateError(error) && error.retryAfterMs).toSatisfy((ms: number) => ms > 50_000 && ms <= minute)
    expect(await store.get(`${ada}-5`)).toBeUndefined()
    expect(await owned(store, bob).add(`${bob}-1`, '1', minute)).toBe(true)
    expect(await store.add(fresh(), '1', minute)).toBe(true)
    // A key that is there is no addition.
    expect(await owned(store, ada).add(`${ada}-1`, '1', minute)).toBe(false)
    expect([await store.get(`${ada}-1`), await owned(store, bob).get(`${ada}-1`)]).toEqual(['1', '1'])
  })

  test('a value that is deleted or expires no longer counts for its owner, also when another owner does it', async () => {
    const store = make({ maxEntriesPerOwner: 2 })
    const [ada, bob] = [fresh(), fresh()]
    const add = (at: number, ttlMs = minute) => owned(store, ada).add(`${ada}-${at}`, '1', ttlMs)
    await add(1)
    await add(2)
    await store.delete(`${ada}-1`)
    await store.delete(`${ada}-1`)
    expect(await add(3)).toBe(true)
    await expect(add(4)).rejects.toMatchObject({ code: 'quota' })
    await owned(store, bob).delete(`${ada}-2`)
    expect(await add(5, 1)).toBe(true)
    await expect.poll(() => add(6).catch(({ code }) => code)).toBe(true)
    await store.expire?.(`${ada}-3`, 1)
    await expect.poll(() => add(7).catch(({ code }) => code)).toBe(true)
    await expect(add(8)).rejects.toMatchObject({ code: 'quota' })
    // A key that was of one owner is of another when it is added again.
    await store.delete(`${ada}-7`)
    expect(await owned(store, bob).add(`${ada}-7`, '1', minute)).toBe(true)
    expect(await add(9)).toBe(true)
  })

  test('the characters of one owner have a limit as well', async () => {
    const store = make({ maxCharactersPerOwner: 100 })
    const [ada, bob] = [fresh(), fresh()]
    const fill = (owner: string, at: number, size: number) => {
      const key = `${owner}-${at}`
      return owned(store, owner).add(key, 'x'.repeat(size - key.length), minute)
    }
    expect(await fill(ada, 1, 60)).toBe(true)
    expect(await fill(ada, 2, 40)).toBe(true)
    await expect(fill(ada, 3, 20)).rejects.toMatchObject({
      quota: { limit: 'bytes', max: 100 },
      detail: expect.stringContaining('it keeps 100 characters, 20 more were to be added'),
      retryAfterMs: expect.any(Number),
    })
    await expect(fill(ada, 3, 101)).rejects.toMatchObject({ code: 'quota', retryAfterMs: undefined })
    expect(await fill(bob, 1, 100)).toBe(true)
    await store.delete(`${ada}-2`)
    expect(await fill(ada, 3, 40)).toBe(true)
    await expect(fill(ada, 4, 20)).rejects.toMatchObject({ code: 'quota' })
  })

  test('simultaneous additions of one owner do not exceed the quota', async () => {
    const store = few()
    const ada = fresh()
    const added = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        owned(store, ada)
          .add(`${ada}-${at}`, '1', minute)
          .catch(() => false),
      ),
    )
    expect(added.filter(Boolean).length).toBeGreaterThanOrEqual(4)
    expect(added.filter(Boolean).length).toBeLessThan(4 + connections)
    await expect(owned(store, ada).add(`${ada}-more`, '1', minute)).rejects.toMatchObject({ code: 'quota' })
  })

  test('suspended states and single uses of one owner leave room for those of others', async () => {
    const keys = [randomKey()]
    const codecs = [
      (store: StateStore) => storedState({ store }),
      (store: StateStore) => singleUseState(sealedState({ keys }), store),
    ]
    for (const codecOf of codecs) {
      const codec = codecOf(make({ maxEntriesPerOwner: 2 }))
      const [ada, bob] = [fresh(), fresh()]
      const round = async (owner: string) =>
        codec.open(await codec.seal('x', { purpose: 'test', owner }), { purpose: 'test', owner })
      await round(ada)
      await round(ada)
      await expect(round(ada)).rejects.toMatchObject({ code: 'quota' })
      expect(await round(bob)).toBe('x')
    }
  })

  test('a value is returned as it was, also when it begins with a mark', async () => {
    const store = few()
    for (const value of ['', 'x', '\u0001a\u0001b', 'o:1:']) {
      const [plain, own] = [fresh(), fresh()]
      await store.add(plain, value, minute)
      await owned(store, own).add(own, value, minute)
      expect([await store.get(plain), await store.get(own)]).toEqual([value, value])
    }
  })
}

describe('the memory store', () => {
  const fours = memoryStore({ maxEntriesPerOwner: 4 })
  holdsQuotas((quota) => (quota.maxEntriesPerOwner === 4 ? fours : memoryStore(quota)))
})

describeNeeding('redis', 'the store in Redis', (program) => {
  let server: RealRedis
  let client: TestClient | undefined
  beforeAll(async () => {
    server = await startRedis(program)
    client = await connectRedis(server.path)
  })
  afterAll(async () => {
    client?.destroy()
    await server.close()
  })
  holdsQuotas((quota) => {
    if (!client) throw new Error('a client was made')
    return redisStore(client, quota)
  })

  test('an owner leaves no key behind, and none names them', async () => {
    if (!client) throw new Error('a client was made')
    const ada = redisStore(client, { prefix: 'named:' }).forOwner?.('https://a.example ada')
    await ada?.add('long', '1', minute)
    const keys = await client.keys('named:*')
    expect(keys.length).toBe(3)
    expect(keys.join()).not.toContain('ada')
    await redisStore(client, { prefix: 'gone:' }).forOwner?.('ada').add('short', '1', 1)
    await expect.poll(() => client?.keys('gone:*')).toEqual([])
    await ada?.add('again', '\u0000x', minute)
    expect(await ada?.get('again')).toBe('\u0000x')
    await ada?.delete('again')
    expect(await client.exists('named:again')).toBe(0)
  })

  test('what Redis has lost of a quota neither refuses its owner nor leaves a key without an expiry', async () => {
    if (!client) throw new Error('a client was made')
    const ada = redisStore(client, { prefix: 'lost:', maxCharactersPerOwner: 20 }).forOwner?.('ada')
    await ada?.add('one', 'a value of 16 ch', minute)
    await client.del(await client.keys('lost:owner:*'))
    expect(await ada?.add('two', 'short', minute)).toBe(true)
    await client.del(await client.keys('lost:owner-characters:*'))
    await ada?.delete('two')
    await ada?.add('three', 'short', minute)
    await client.del(await client.keys('lost:owner-characters:*'))
    await ada?.add('four', 'short', minute / 2)
    for (const key of await client.keys('lost:*')) expect(await client.pTTL(key)).toBeGreaterThan(0)
  })
})

describe('the store in PostgreSQL', () => {
  let server: RealPostgres
  let pool: ReturnType<RealPostgres['pool']> | undefined
  beforeAll(async () => {
    server = await startPostgres()
    pool = server.pool()
    await createStateTable(pool)
  })
  afterAll(async () => {
    await pool?.end()
    await server.close()
  })
  // Additions at the same moment do not see one another: a pool has ten connections.
  holdsQuotas((quota) => postgresStore(pool ?? server.pool(), quota), 10)

  test('the share of an owner is read from an index, however many rows there are', async () => {
    await pool?.query(`INSERT INTO mcp_state SELECT 'row-' || n, '1', now() + interval '1 hour', 'owner-' || n % 500, 10
      FROM generate_series(1, 20000) n`)
    await pool?.query('ANALYZE mcp_state')
    const plan = await pool?.query(`EXPLAIN SELECT size, expires_at FROM mcp_state
      WHERE owner = 'owner-7' AND expires_at > statement_timestamp() ORDER BY expires_at LIMIT 1000`)
    const text = JSON.stringify(plan?.rows)
    expect(text).toContain('mcp_state_owner')
    expect(text).not.toContain('Seq Scan')
    await pool?.query("DELETE FROM mcp_state WHERE key LIKE 'row-%'")
  })

  test.each([0, -1, 1.5, Number.NaN])('a quota of %d is rejected', (maxEntriesPerOwner) => {
    expect(() => postgresStore(server.pool(), { maxEntriesPerOwner })).toThrow(/maxEntriesPerOwner is/)
    expect(() => redisStore({ sendCommand: async () => null }, { maxEntriesPerOwner })).toThrow(/whole number from 1/)
  })
})
