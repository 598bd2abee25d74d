import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Pool } from 'pg'
import { claimTasks, createClaimedTask, createNewTask, createRelease } from '../../contract/samples.ts'
import { writeAllWithLease } from '../../contract/work-tests.ts'
import type { TaskEngine } from '../engine.ts'
import { postgresEngine } from './postgres-engine.ts'

let server: RealPostgres
let pool: Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = server.pool()
})
afterAll(async () => {
  await pool.end()
  await server.close()
})
afterEach(() => pool.query('DROP SCHEMA IF EXISTS mcp_tasks CASCADE'))

test('after a lost commit the worker of the lost claim writes nothing [ENG-002]', async () => {
  const engine = postgresEngine(server.url)
  await engine.create(createNewTask('a'))
  const { rows } = await pool.query('SELECT attempt, due_at, token, leased FROM mcp_tasks.task')
  const [before] = rows
  const [lost] = await claimTasks(engine, 1)
  if (lost === undefined) throw new Error('The task is ready')
  // As after a fail-over to a replica that did not have the commit of the claim.
  await pool.query('UPDATE mcp_tasks.task SET attempt = $1, due_at = $2, token = $3, leased = $4', [
    before.attempt,
    before.due_at,
    before.token,
    before.leased,
  ])
  const [again] = await claimTasks(engine, 1)
  expect(again?.attempt).toBe(lost.attempt)
  expect(await writeAllWithLease(engine, lost)).toEqual(['lost', 'lost', 'lost', 'lost', false])
  expect(again && (await engine.record(again, createRelease()))).toBe('owned')
  await engine.close()
})

test('the payload of a task is deleted when it ends [ENG-008]', async () => {
  const engine = postgresEngine(server.url)
  const task = await createClaimedTask(engine)
  await engine.finish(task, { outcome: { status: 'cancelled' }, lifetimeMs: 1000 })
  const { rows } = await pool.query('SELECT payload, requests, token, worker, due_at FROM mcp_tasks.task')
  expect(rows).toEqual([{ payload: '{}', requests: '{}', token: null, worker: null, due_at: null }])
  await engine.close()
})

test('a claim reads few pages among many ended and waiting tasks, without statistics [ENG-006]', async () => {
  const engine = postgresEngine(server.url)
  await engine.ping()
  await pool.query('ALTER TABLE mcp_tasks.task SET (autovacuum_enabled = false)')
  await pool.query(`INSERT INTO mcp_tasks.task (id, owner, caller, payload, status, tool)
    SELECT 'ended-' || n, '', '', '{}', 'completed', 'work' FROM generate_series(1, 100000) AS n`)
  await pool.query(`INSERT INTO mcp_tasks.task (id, owner, caller, payload, status, tool, due_at)
    SELECT 'ready-' || n, '', '', '{}', 'working', 'work', now() FROM generate_series(1, 10000) AS n`)
  const pagesOf = async (): Promise<number> => {
    await pool.query('SELECT pg_stat_force_next_flush()').catch(() => {})
    const { rows } = await pool.query(
      `SELECT coalesce(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit, 0)::integer AS pages
      FROM pg_statio_user_tables WHERE schemaname = 'mcp_tasks' AND relname = 'task'`,
    )
    return Number(rows[0]?.pages)
  }
  const planOfClaim = await planOf((recording) => recording.claim({ maxClaims: 1 }), [16, 10_000, 'worker'])
  expect(planOfClaim).not.toMatch(/Seq Scan on task/)
  const before = await pagesOf()
  for (let claims = 0; claims < 10; claims++) expect(await claimTasks(engine, 16)).toHaveLength(16)
  await expect.poll(pagesOf).toBeGreaterThan(before)
  expect(((await pagesOf()) - before) / 10).toBeLessThan(500)
  await engine.close()
})

test('a count of the open tasks reads no ended task', async () => {
  const engine = postgresEngine(server.url)
  await engine.ping()
  await pool.query(`INSERT INTO mcp_tasks.task (id, owner, caller, payload, status, tool, due_at)
    SELECT n, '', '', '{}', s.status, 'work', CASE s.status WHEN 'working' THEN now() END FROM generate_series(1, 50000) AS n,
    LATERAL (SELECT CASE n % 100 WHEN 0 THEN 'working' WHEN 1 THEN 'input_required' ELSE 'completed' END AS status) AS s`)
  await pool.query('ANALYZE mcp_tasks.task')
  const plan = await planOf((recording) => recording.count(), [])
  expect(plan).not.toMatch(/Seq Scan on task/)
  expect((await engine.count()).map(({ state, count }) => [state, count])).toEqual([
    ['waiting', 500],
    ['ready', 500],
  ])
  await engine.close()
})

/** Returns the plan of the statement that an engine sends for a call. */
async function planOf(call: (engine: TaskEngine) => Promise<unknown>, values: readonly unknown[]): Promise<string> {
  const statements: string[] = []
  const recording = postgresEngine({
    query: (query) => pool.query(query),
    connect: async () => {
      const connection = await pool.connect()
      return {
        query: (query) => {
          statements.push(query.text)
          return connection.query(query)
        },
        on: (event: string, listener: (value: never) => void) => connection.on(event as 'error', listener as never),
        release: (shouldDestroy) => connection.release(shouldDestroy),
      }
    },
  })
  await recording.ping()
  statements.length = 0
  await call(recording)
  await recording.close()
  const { rows } = await pool.query({ text: `EXPLAIN ${statements[0]}`, values: [...values] })
  return rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN'])).join('\n')
}

test('the wait for a connection of a pool has a time limit', async () => {
  const silent = { query: () => new Promise(() => {}), connect: () => new Promise<never>(() => {}) }
  const engine = postgresEngine(silent, { timeoutMs: 100, log: () => {} })
  await expect(engine.ping()).rejects.toThrow('The pool gave no connection within 100 ms')
})
