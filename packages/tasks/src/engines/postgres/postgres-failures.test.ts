import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import {
  createClaimedTask,
  claimOne,
  sampleLifetimeMs,
  createNewTask,
  sampleOwner,
  createRelease,
  sampleResult,
  claimTasks,
} from '../../contract/samples.ts'
import { postgresEngine } from './postgres-engine.ts'

let server: RealPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())
beforeEach(async () => {
  const pool = server.pool()
  await pool.query('DROP SCHEMA IF EXISTS mcp_tasks CASCADE')
  await pool.end()
})

const done = { outcome: { status: 'completed', result: sampleResult }, lifetimeMs: sampleLifetimeMs } as const

/** The messages of a connection that broke, or could not be opened. The moment decides between them. */
const away = /ECONNREFUSED|ECONNRESET|terminat|shutting down|starting up|closed/i

test('the calls of an engine reject while its database is unreachable, and succeed after its restart', async () => {
  const engine = postgresEngine(server.url)
  await server.kill()
  await expect(engine.create(createNewTask('a'))).rejects.toThrow(away)
  await expect(engine.listen({ onWork: () => {}, onCancel: () => {} })).rejects.toThrow(away)
  await server.restart()
  expect(await engine.create(createNewTask('a'))).toMatchObject({ status: 'working' })
  await engine.close()
})

test('engines create their tables again in a database that came back empty [ROB-011]', async () => {
  const engines = [postgresEngine(server.url), postgresEngine(server.url)] as const
  const lost = await createClaimedTask(engines[0])
  const pool = server.pool()
  await pool.query('DROP SCHEMA mcp_tasks CASCADE')
  await pool.end()
  expect(await Promise.all([engines[0].heartbeat([lost]), engines[1].get(lost.id, sampleOwner)])).toEqual([
    ['lost'],
    undefined,
  ])
  expect(await engines[1].create(createNewTask('b'))).toMatchObject({ status: 'working' })
  expect(await claimOne(engines[0])).toMatchObject({ id: 'b' })
  for (const engine of engines) await engine.close()
})

test('a task completes although the database restarts during it', async () => {
  const engine = postgresEngine(server.url, { leaseMs: 60_000 })
  const task = await createClaimedTask(engine)
  await engine.record(task, createRelease({ entries: [{ member: 'steps', key: 'one', value: 1 }] }))
  await server.kill()
  await expect(engine.record(task, createRelease({ statusMessage: 'Half' }))).rejects.toThrow(away)
  await expect(engine.heartbeat([task])).rejects.toThrow(away)
  await expect(engine.finish(task, done)).rejects.toThrow(away)
  await server.restart()
  expect(await engine.heartbeat([task])).toEqual(['owned'])
  expect(await claimTasks(engine, 10)).toEqual([])
  expect(await engine.finish(task, done)).toBe(true)
  expect(await engine.get('a', sampleOwner)).toMatchObject({ status: 'completed', result: sampleResult })
  await engine.close()
})

test('a listener is notified of work again after a restart of the database', async () => {
  const [here, there] = [postgresEngine(server.url), postgresEngine(server.url)]
  let heard = 0
  const cancelled: string[] = []
  await there.listen({ onWork: () => heard++, onCancel: (id) => cancelled.push(id) })
  await server.kill()
  await server.restart()
  // One call replaces the notifications that were lost in the meantime.
  await expect.poll(() => heard).toBe(1)
  await here.create(createNewTask('a'))
  await expect.poll(() => heard).toBe(2)
  await claimOne(there)
  await here.cancel('a', sampleOwner)
  await expect.poll(() => cancelled).toEqual(['a'])
  await Promise.all([here.close(), there.close()])
})

test('an instance that is suspended in a transaction does not block the claim of its task by others', async () => {
  const engine = postgresEngine(server.url, { leaseMs: 50 })
  await createClaimedTask(engine)
  const pool = server.pool()
  const frozen = await pool.connect()
  frozen.on('error', () => {})
  // The first statement of the engine in a transaction of such an instance.
  await frozen.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 500; SET LOCAL statement_timeout = 500')
  await frozen.query('SELECT FROM mcp_tasks.task FOR UPDATE')
  expect(await claimTasks(engine, 1)).toEqual([])
  await expect.poll(() => claimTasks(engine, 1)).toMatchObject([{ attempt: 2 }])
  frozen.release(true)
  await pool.end()
  await engine.close()
})

test('the wait for a database that does not answer has the given time limit', async () => {
  const [patient, engine] = [postgresEngine(server.url), postgresEngine(server.url, { timeoutMs: 300 })]
  const task = await createClaimedTask(patient)
  // The limit also holds for the first connection, which a busy machine may miss.
  await vi.waitFor(() => engine.get('a', sampleOwner), 60_000)
  const pool = server.pool()
  const busy = await pool.connect()
  await busy.query('BEGIN')
  await busy.query('SELECT FROM mcp_tasks.task FOR UPDATE')
  await expect(engine.record(task, createRelease({ statusMessage: 'Half' }))).rejects.toThrow(/timeout/i)
  await expect(engine.cancel('a', sampleOwner)).rejects.toThrow(/timeout/i)
  await busy.query('ROLLBACK')
  busy.release()
  await expect.poll(() => engine.record(task, createRelease({ statusMessage: 'Half' }))).toBe('owned')
  await pool.end()
  await Promise.all([patient.close(), engine.close()])
})

test('instances that claim, answer and end tasks at the same time do not deadlock', async () => {
  const engines = Array.from({ length: 3 }, () => postgresEngine(server.url, { leaseMs: 60_000 }))
  const [first] = engines
  if (first === undefined) throw new Error('There is an engine')
  const ids = Array.from({ length: 60 }, (_, index) => `task-${index}`)
  await Promise.all(ids.map((id) => first.create(createNewTask(id))))
  const ended: string[] = []
  const work = async (engine: typeof first): Promise<void> => {
    while (ended.length < ids.length) {
      const tasks = await claimTasks(engine, 5)
      await engine.heartbeat(tasks)
      await Promise.all(
        tasks.map(async (task) => {
          if (task.attempt > 1) {
            if (await engine.finish(task, done)) ended.push(task.id)
            return
          }
          await engine.suspend(task, { ...createRelease(), requests: { ask: {} }, lifetimeMs: sampleLifetimeMs })
          const answering = engines.map((each) =>
            each.answer({ id: task.id, owner: sampleOwner, responses: { ask: {} }, lifetimeMs: sampleLifetimeMs }),
          )
          await Promise.all([...answering, engine.deleteExpiredTasks()])
        }),
      )
    }
  }
  await Promise.all(engines.map(work))
  expect(ended.toSorted()).toEqual(ids.toSorted())
  await Promise.all(engines.map((engine) => engine.close()))
})
