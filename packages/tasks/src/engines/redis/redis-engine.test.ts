import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { createCluster, createSentinel } from '@redis/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { passRedisTime } from '../../../test/pass-redis-time.ts'
import {
  claimOne,
  createClaimedTask,
  createNewTask,
  createRelease,
  createSuspendedTask,
  sampleLifetimeMs,
  sampleOwner,
  sampleResult,
} from '../../contract/samples.ts'
import type { TaskEngine } from '../engine.ts'
import { engineFactoryFor } from '../engine-factory.ts'
import { redisEngine } from './redis-engine.ts'

let server: RealRedis
let client: TestClient
beforeAll(async () => {
  server = await startRedis('redis-server')
  client = await connectRedis(server.path)
})
afterAll(async () => {
  client.destroy()
  await server.close()
})
beforeEach(async () => {
  await client.sendCommand(['FLUSHALL'])
})

const done = { outcome: { status: 'completed', result: sampleResult }, lifetimeMs: 1000 } as const

describe('the settings of Redis', () => {
  test.each(['allkeys-lru', 'volatile-ttl'])(
    'the policy %s is rejected, because tasks would be deleted',
    async (policy) => {
      const engine = redisEngine(client)
      await client.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', policy])
      await expect(engine.ping()).rejects.toThrow(`Redis has the maxmemory-policy ${policy}, so it may delete tasks`)
      await expect(engine.create(createNewTask('a'))).rejects.toThrow('set `maxmemory-policy noeviction`')
      await client.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'])
      await engine.ping()
      await client.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', policy])
      await expect(engine.ping()).rejects.toThrow('may delete tasks')
      await client.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'])
      await engine.close()
    },
  )

  test('a Redis without free memory rejects new tasks, and keeps its stored tasks', async () => {
    const engine = redisEngine(client)
    const task = await createClaimedTask(engine)
    await client.sendCommand(['CONFIG', 'SET', 'maxmemory', '1'])
    await expect(engine.create(createNewTask('b'))).rejects.toThrow(/OOM/)
    expect((await engine.get('a', sampleOwner))?.status).toBe('working')
    await client.sendCommand(['CONFIG', 'SET', 'maxmemory', '0'])
    expect(await engine.finish(task, done)).toBe(true)
    await engine.close()
  })

  test.each(['a b', '', 'é:', 'x'.repeat(129)])('the prefix %j is rejected', (prefix) => {
    expect(() => redisEngine(client, { prefix })).toThrow(/prefix is .*: use up to 128 printable ASCII characters/)
  })
})

test.each([
  ['a cluster', createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })],
  ['Sentinel', createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] })],
])('a client of %s, which sends commands in another way, is rejected', (_, other) => {
  expect(() => Reflect.apply(redisEngine, undefined, [other])).toThrow('give it the client of one Redis')
})

test('two services with different prefixes can share a Redis, and their tasks are separate', async () => {
  const [one, other] = [redisEngine(client, { prefix: '{one}:' }), redisEngine(client, { prefix: '{other}:' })]
  let calls = 0
  await other.listen({ onWork: () => calls++, onCancel: () => calls++ })
  await one.create(createNewTask('a'))
  expect(await other.get('a', sampleOwner)).toBeUndefined()
  expect((await other.claim({ maxClaims: 1 })).tasks).toEqual([])
  await other.create(createNewTask('b'))
  await expect.poll(() => calls).toBe(1)
  await Promise.all([one.close(), other.close()])
})

test('an address is opened when the engine is first used, and its engine leaves the application’s clients open', async () => {
  const engine = redisEngine(server.url)
  await engine.create(createNewTask('a'))
  await engine.close()
  await expect(engine.ping()).rejects.toThrow('The engine is closed')
  expect(await client.ping()).toBe('PONG')
})

test('an engine without a log of its own uses that of the server that gets it', async () => {
  const engine = redisEngine(server.url)
  const names: unknown[] = []
  engine.useLog?.(({ name }) => void names.push(name))
  await engine.listen({ onWork: () => {}, onCancel: () => {} })
  await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
  await expect.poll(() => names).toEqual(['tasks'])
  await engine.close()
})

test.each(['redis://127.0.0.1:1', 'rediss://127.0.0.1:1'])('%s is the address of a Redis', async (store) => {
  const engine = engineFactoryFor(store)(() => {})
  expect(engine.leaseMs).toBe(10_000)
  await engine.close()
})

test('an address may have the prefix of the keys, which is checked like the option', async () => {
  const engine = engineFactoryFor('redis://127.0.0.1:1?prefix=a%20b')(() => {})
  await expect(engine.ping()).rejects.toThrow('prefix is "a b"')
  await engine.close()
})

test('an address at which no Redis listens is an error within the time limit', async () => {
  const engine = redisEngine('redis://127.0.0.1:1', { timeoutMs: 300, log: () => {} })
  await expect(engine.ping()).rejects.toThrow('Redis did not answer within 300 ms')
  await engine.close()
})

describe('the keys of a task', () => {
  const keys = async (): Promise<readonly string[]> => (await client.keys('*')).toSorted()

  test('are all deleted by the sweep [ENG-008]', async () => {
    const engine = redisEngine(client)
    await createSuspendedTask(engine, 'waiting')
    await engine.create(createNewTask('ready'))
    const ended = await createClaimedTaskOf(engine, 'ended')
    await engine.record(ended, createRelease({ entries: [{ member: 'steps', key: 'one', value: 1 }] }))
    await engine.finish(ended, done)
    expect((await keys()).filter((key) => /journal:|answers:/.test(key))).toEqual([])
    await passRedisTime(client, '{mcp-tasks}:', sampleLifetimeMs + 1)
    expect(await engine.deleteExpiredTasks()).toBe(3)
    expect(await keys()).toEqual([])
    await engine.close()
  })

  test('are deleted by Redis when no instance sweeps', async () => {
    const engine = redisEngine(client)
    const task = await createSuspendedTask(engine)
    await engine.answer({ id: 'a', owner: sampleOwner, responses: { name: {} }, lifetimeMs: sampleLifetimeMs })
    const own = ['task', 'journal', 'answers', 'open'].map((kind) => `{mcp-tasks}:${kind}:a`)
    const present = (await keys()).filter((key) => own.includes(key))
    expect(present.length).toBe(3)
    for (const key of present) expect(await client.pTTL(key)).toBeGreaterThan(0)
    expect(task.attempt).toBe(1)
    await engine.close()
  })

  test('of a task whose lifetime has no end have no expiry, and those of other tasks have one', async () => {
    const engine = redisEngine(client)
    await engine.create(createNewTask('a', { lifetimeMs: null }))
    expect(await client.pTTL('{mcp-tasks}:task:a')).toBe(-1)
    await engine.create(createNewTask('b'))
    const { tasks } = await engine.claim({ maxClaims: 1, id: 'b' })
    expect(tasks.length).toBe(1)
    expect(await client.pTTL('{mcp-tasks}:task:b')).toBeGreaterThan(0)
    await engine.close()
  })
})

async function createClaimedTaskOf(engine: ReturnType<typeof redisEngine>, id: string) {
  await engine.create(createNewTask(id))
  const [task] = (await engine.claim({ maxClaims: 1, id })).tasks
  if (task === undefined) throw new Error('The task was not claimed')
  return task
}

describe('a list', () => {
  test('that few tasks match is read in several scripts, and contains every match', async () => {
    const engine = redisEngine(client)
    const create = (index: number) =>
      engine.create(createNewTask(`task-${index}`, { callerLimit: 5000, tool: index % 1000 === 0 ? 'rare' : 'work' }))
    // The client of Redis rejects a command that waits in its queue for five seconds, as some of 2,500 at once would on
    // a busy machine.
    for (let first = 0; first < 2500; first += 100)
      await Promise.all(Array.from({ length: 100 }, (_, index) => create(first + index)))
    const { tasks, nextCursor } = await engine.list({ tool: 'rare', limit: 2 })
    expect(tasks.map(({ id }) => id)).toEqual(['task-2000', 'task-1000'])
    const rest = await engine.list({ tool: 'rare', limit: 2, cursor: nextCursor })
    expect([rest.tasks.map(({ id }) => id), rest.nextCursor]).toEqual([['task-0'], undefined])
    expect((await engine.count()).map(({ tool, count }) => [tool, count]).toSorted()).toEqual([
      ['rare', 3],
      ['work', 2497],
    ])
    await engine.close()
  })

  test('rejects a cursor that is not from a page', async () => {
    const engine = redisEngine(client)
    await expect(engine.list({ limit: 1, cursor: 'x' })).rejects.toThrow('cursor is not the nextCursor of a page')
    await engine.close()
  })
})

test('a task whose keys Redis has deleted does not delay those behind it', async () => {
  const engine = redisEngine(client)
  for (const id of ['a', 'b', 'c']) await engine.create(createNewTask(id))
  await client.del(['{mcp-tasks}:task:a', '{mcp-tasks}:task:b'])
  expect(await engine.listDue(2)).toEqual(['c'])
  expect((await claimOne(engine)).id).toBe('c')
  await engine.close()
})

test.each([
  ['its place in the queue', '{mcp-tasks}:due', (engine: TaskEngine) => engine.create(createNewTask('a'))],
  ['its place in the queue while a worker runs it', '{mcp-tasks}:due', createClaimedTask],
  ['its open requests', '{mcp-tasks}:open:a', createSuspendedTask],
])('a task of which Redis has lost %s runs again once its client reads it', async (_, key, create) => {
  const engine = redisEngine(client)
  await create(engine)
  await client.del(key)
  const row = await engine.get('a', sampleOwner)
  expect([row?.status, row?.requests]).toEqual(['working', {}])
  await passRedisTime(client, '{mcp-tasks}:', 61_000)
  expect((await claimOne(engine)).id).toBe('a')
  await engine.close()
})

test('a task whose caller Redis has lost counts no more in the limit of the caller once its lifetime has ended', async () => {
  const engine = redisEngine(client)
  await engine.create(createNewTask('a', { callerLimit: 1 }))
  await client.del('{mcp-tasks}:callers')
  await passRedisTime(client, '{mcp-tasks}:', sampleLifetimeMs + 1)
  expect(await engine.create(createNewTask('b', { callerLimit: 1 }))).not.toBe('full')
  await engine.close()
})

test('a task whose journal Redis has lost begins again without its answers, which would change the idempotency keys of its steps', async () => {
  const engine = redisEngine(client)
  const claimed = await createClaimedTask(engine)
  const stepOf = (key: string) => ({ member: 'steps', key, value: 1 }) as const
  const entries = [stepOf('one'), stepOf('two')]
  await engine.suspend(claimed, { ...createRelease({ entries }), requests: { name: {} }, lifetimeMs: sampleLifetimeMs })
  await engine.answer({ id: 'a', owner: sampleOwner, responses: { name: {} }, lifetimeMs: sampleLifetimeMs })
  const continued = await claimOne(engine)
  await client.del('{mcp-tasks}:journal:a')
  await engine.release(continued, createRelease({ entries: [stepOf('three')] }))
  const { entries: foundEntries, responses } = await claimOne(engine)
  expect([foundEntries, responses]).toEqual([[stepOf('three')], {}])
  await engine.close()
})
