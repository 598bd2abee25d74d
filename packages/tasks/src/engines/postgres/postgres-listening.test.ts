import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import type { PostgresPool } from '@x/server/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engineContract } from '../../contract/engine-contract.ts'
import type { EngineUnderTest } from '../../contract/engine-under-test.ts'
import { createNewTask } from '../../contract/samples.ts'
import { shareSessions } from '../../testing/transaction-pool.ts'
import { passTime } from '../../../test/pass-time.ts'
import type { TaskEngine } from '../engine.ts'
import { postgresEngine } from './postgres-engine.ts'

let server: RealPostgres
let direct: Pool
let shared: PostgresPool
let backends: Pool
beforeAll(async () => {
  server = await startPostgres()
  direct = server.pool()
  backends = server.pool()
  shared = shareSessions(backends)
})
afterAll(async () => {
  await Promise.all([direct.end(), backends.end()])
  await server.close()
})

const advice = 'give `listenPool` a pool that connects to PostgreSQL directly'

/** A listening engine, with its reported errors and the number of calls of its worker. */
async function openListening(listenPool: PostgresPool) {
  const reported: string[] = []
  const engine = postgresEngine(shared, { listenPool, log: ({ message }) => void reported.push(message) })
  const seen = {
    calls: 0,
    cancelled: [] as string[],
    advices: () => reported.filter((text) => text.includes(advice)).length,
  }
  const stop = await engine.listen({ onWork: () => seen.calls++, onCancel: (id) => seen.cancelled.push(id) })
  const close = async (): Promise<void> => {
    stop()
    await engine.close()
  }
  return { engine, seen, close }
}

/** Creates a task at another instance, and waits until the worker of this one is called. */
async function expectWorkSeen(seen: { readonly calls: number }, id: string): Promise<void> {
  const other = postgresEngine(server.url)
  const before = seen.calls
  await other.create(createNewTask(id))
  await expect.poll(() => seen.calls).toBeGreaterThan(before)
  await other.close()
}

/** Cancels a claimed task at another instance, and waits until this one is notified: polls do not find that. */
async function expectCancellationSeen(seen: { readonly cancelled: readonly string[] }, id: string): Promise<void> {
  const other = postgresEngine(server.url)
  await other.create(createNewTask(id))
  await other.claim({ maxClaims: 1, id })
  await other.cancel(id)
  await expect.poll(() => seen.cancelled).toContain(id)
  await other.close()
}

describe('through a proxy that shares sessions', () => {
  test('notifications do not arrive, which is reported once, and polls find the work [ENG-007]', async () => {
    const { seen, close } = await openListening(shared)
    await expect.poll(seen.advices).toBe(1)
    await expectWorkSeen(seen, 'shared')
    expect(seen.advices()).toBe(1)
    await close()
  })

  test('notifications arrive over a listenPool that connects directly [ENG-007]', async () => {
    const { seen, close } = await openListening(direct)
    await expectCancellationSeen(seen, 'direct')
    await close()
  })

  test('LISTEN is tested again after its connection was lost [ENG-007]', async () => {
    const isDirect = { value: true }
    const { seen, close } = await openListening({
      query: (query) => direct.query(query),
      connect: () => (isDirect.value ? direct : shared).connect(),
    })
    await expectCancellationSeen(seen, 'before')
    const before = seen.advices()
    isDirect.value = false
    await endListeningConnections()
    await expect.poll(seen.advices).toBeGreaterThan(before)
    await expectWorkSeen(seen, 'lost')
    await close()
  })

  describe('the engine passes the contract with a listenPool that connects directly [ENG-007]', () => {
    const setUp = async (): Promise<EngineUnderTest> => {
      const engines: TaskEngine[] = []
      await direct.query('DROP SCHEMA IF EXISTS mcp_tasks CASCADE')
      return {
        open: async () => {
          const engine = postgresEngine(shared, { listenPool: direct })
          engines.push(engine)
          return engine
        },
        advanceTime: (ms) =>
          passTime((text, values) => direct.query(text, [...(values ?? [])]).then(({ rows }) => rows), ms),
        close: async () => void (await Promise.all(engines.map((engine) => engine.close()))),
      }
    }
    for (const { title, run } of engineContract(setUp)) test(title, run)
  })
})

async function endListeningConnections(): Promise<void> {
  await direct.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`)
}
