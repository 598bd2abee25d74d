import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createAcceptedAnswer,
  createClaimedTask,
  claimOne,
  sampleLifetimeMs,
  createNewTask,
  sampleOwner,
  createRelease,
  sampleResult,
  createSuspendedTask,
  claimTasks,
} from '../../contract/samples.ts'
import type { TaskEngine } from '../engine.ts'
import { engineFactoryFor } from '../engine-factory.ts'
import { type PostgresEngineOptions, postgresEngine } from './postgres-engine.ts'

let server: RealPostgres
let pool: Pool
let opened: TaskEngine[]

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())
beforeEach(() => {
  pool = server.pool()
  opened = []
})
afterEach(async () => {
  await Promise.all(opened.map((engine) => engine.close()))
  await pool.query('DROP SCHEMA IF EXISTS mcp_tasks CASCADE')
  await pool.end()
})

function open(options?: PostgresEngineOptions, url = server.url): TaskEngine {
  const engine = postgresEngine(url, options)
  opened.push(engine)
  return engine
}

async function count(table: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`SELECT count(*) FROM ${table}`)
  return Number(rows[0]?.count)
}

describe('the tables', () => {
  test('are created once when six instances start at the same time', async () => {
    const engines = Array.from({ length: 6 }, () => open())
    const creations = engines.map((engine, index) => engine.create(createNewTask(`task-${index}`)))
    expect(await Promise.all(creations)).toHaveLength(6)
    expect(await count('mcp_tasks.version')).toBe(1)
    expect(await claimTasks(open(), 10)).toHaveLength(6)
  })

  test('are used by a role that may not create any', async () => {
    await open().create(createNewTask('a'))
    await pool.query(`CREATE ROLE worker LOGIN PASSWORD 'worker'`)
    await pool.query('GRANT USAGE ON SCHEMA mcp_tasks TO worker')
    await pool.query('GRANT ALL ON ALL TABLES IN SCHEMA mcp_tasks TO worker')
    const engine = open({}, server.url.replace('postgres:password', 'worker:worker'))
    const task = await claimOne(engine)
    expect(
      await engine.finish(task, {
        outcome: { status: 'completed', result: sampleResult },
        lifetimeMs: sampleLifetimeMs,
      }),
    ).toBe(true)
    await engine.close()
    await pool.query('DROP OWNED BY worker')
    await pool.query('DROP ROLE worker')
  })

  test('of a later version are rejected', async () => {
    await open().create(createNewTask('a'))
    await pool.query('UPDATE mcp_tasks.version SET number = 99')
    await expect(open().get('a', sampleOwner)).rejects.toThrow('are of version 99, and this version knows 9 at most')
  })

  test('of two schemas are separate', async () => {
    const one = open({ schema: 'one' })
    const other = engineFactoryFor(`${server.url}?schema=other`)(() => {})
    await one.create(createNewTask('a'))
    expect(await other.get('a', sampleOwner)).toBeUndefined()
    expect(await claimTasks(other, 1)).toEqual([])
    expect(await claimTasks(one, 1)).toHaveLength(1)
    await other.close()
    for (const schema of ['one', 'other']) await pool.query(`DROP SCHEMA ${schema} CASCADE`)
  })

  test.each(['mcp tasks', 'tasks"; DROP', 'Tasks', '', 'x'.repeat(41)])('are not created in a schema %j', (schema) => {
    expect(() => postgresEngine(server.url, { schema })).toThrow(RangeError)
  })

  test.each([
    [{ leaseMs: 0 }, 'leaseMs is 0'],
    [{ leaseMs: 1.5 }, 'leaseMs is 1.5'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs is NaN'],
  ])('are not opened with %j', (options, message) => {
    expect(() => postgresEngine(server.url, options)).toThrow(message)
  })
})

describe('tasks', () => {
  test('are created once for each id', async () => {
    const engine = open()
    await engine.create(createNewTask('a'))
    await expect(engine.create(createNewTask('a'))).rejects.toThrow('The task "a" exists already')
    expect(await engine.create(createNewTask('b', { callerLimit: 1 }))).toBe('full')
    expect(await count('mcp_tasks.task')).toBe(1)
  })

  test('have no rows for a task that has ended, was cancelled, has expired or was deleted', async () => {
    const engine = open()
    for (const id of ['done', 'cancelled', 'expired'])
      await engine.create(createNewTask(id, { lifetimeMs: id === 'expired' ? 1 : sampleLifetimeMs }))
    await engine.cancel('cancelled', sampleOwner)
    const task = await claimOne(engine)
    await engine.suspend(task, {
      ...createRelease({ entries: [{ member: 'steps', key: 'a', value: 1 }] }),
      requests: { a: {} },
      lifetimeMs: sampleLifetimeMs,
    })
    await engine.answer({
      id: 'done',
      owner: sampleOwner,
      responses: { a: createAcceptedAnswer('yes') },
      lifetimeMs: sampleLifetimeMs,
    })
    const again = await claimOne(engine)
    expect([await count('mcp_tasks.journal'), await count('mcp_tasks.answer')]).toEqual([1, 1])
    await engine.finish(again, { outcome: { status: 'completed', result: sampleResult }, lifetimeMs: sampleLifetimeMs })
    expect([await count('mcp_tasks.journal'), await count('mcp_tasks.answer')]).toEqual([0, 0])
    expect(await engine.deleteExpiredTasks()).toBe(1)
    await createClaimedTask(engine, 'left')
    await createSuspendedTask(engine, 'waiting')
    await pool.query(`UPDATE mcp_tasks.task SET expires_at = now()`)
    expect(await engine.deleteExpiredTasks()).toBe(4)
    expect(await count('mcp_tasks.task')).toBe(0)
  })

  // With the second limit most tasks are created concurrently, under a shared lock, until the limit is near.
  test.each([
    [7, 30],
    [203, 230],
  ])('are at most %d, the limit of their owner, if %d are created at the same time', async (callerLimit, tries) => {
    const [here, there] = [open(), open()]
    await here.get('a', sampleOwner)
    const making = Array.from({ length: tries }, (_, index) =>
      (index % 2 ? here : there).create(createNewTask(`task-${index}`, { callerLimit })),
    )
    const made = (await Promise.all(making)).filter((row) => row !== 'full').length
    expect([made, await count('mcp_tasks.task')]).toEqual([callerLimit, callerLimit])
  })

  test.each([
    ['the zero character', 'a\0'],
    ['an unpaired surrogate', 'a\ud800'],
    ['quotation marks', '"a"'],
    ['a wildcard', '%'],
    ['a mebibyte', 'a'.repeat(1_048_576)],
  ])('are not found by an id with %s', async (_, id) => {
    const engine = open()
    await engine.create(createNewTask('a'))
    expect(await engine.get(id, sampleOwner)).toBeUndefined()
    expect(await engine.cancel(id, sampleOwner)).toBe('unknown')
    expect(await engine.get('a', id)).toBeUndefined()
  })

  test('of owners whose names are equal for PostgreSQL are separate', async () => {
    const engine = open()
    await engine.create(createNewTask('a', { owner: 'x\ud800' }))
    expect(await engine.get('a', 'x\udbff')).toBeUndefined()
    expect(await engine.get('a', 'x\ufffd')).toBeUndefined()
    expect(await engine.get('a', '"x\\ud800"')).toBeUndefined()
    expect((await engine.get('a', 'x\ud800'))?.id).toBe('a')
  })

  test('have a lifetime of any number of milliseconds', async () => {
    const engine = open()
    await engine.create(createNewTask('a', { lifetimeMs: Number.MAX_SAFE_INTEGER }))
    expect((await engine.get('a', sampleOwner))?.ttlMs).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('may have steps with names of any length', async () => {
    const engine = open({ leaseMs: 1 })
    const task = await createClaimedTask(engine)
    const key = 'step/'.repeat(10_000)
    await engine.record(
      task,
      createRelease({
        entries: [
          { member: 'steps', key, value: 1 },
          { member: 'steps', key, value: 2 },
        ],
      }),
    )
    await expect.poll(() => claimTasks(engine, 1)).toMatchObject([{ entries: [{ member: 'steps', key, value: 2 }] }])
  })
})

describe('a pool of the application', () => {
  test('is used and not closed', async () => {
    const engine = postgresEngine(pool)
    await engine.create(createNewTask('a'))
    const stop = await engine.listen({ onWork: () => {}, onCancel: () => {} })
    stop()
    await engine.close()
    expect(await count('mcp_tasks.task')).toBe(1)
    await expect(engine.get('a', sampleOwner)).rejects.toThrow('The engine is closed')
  })

  test('with two connections suffices for all functions at the same time', async () => {
    const small = server.pool({ max: 2 })
    const engine = postgresEngine(small)
    const stop = await engine.listen({ onWork: () => {}, onCancel: () => {} })
    await Promise.all(Array.from({ length: 10 }, (_, index) => engine.create(createNewTask(`task-${index}`))))
    const claims = await Promise.all(Array.from({ length: 5 }, () => claimTasks(engine, 3)))
    const ends = claims
      .flat()
      .map((task) =>
        engine.finish(task, { outcome: { status: 'completed', result: sampleResult }, lifetimeMs: sampleLifetimeMs }),
      )
    expect(await Promise.all(ends)).toEqual(Array.from({ length: ends.length }, () => true))
    stop()
    await engine.close()
    await small.end()
  })
})
