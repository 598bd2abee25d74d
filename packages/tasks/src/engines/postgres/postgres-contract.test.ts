import { engineContract } from '../../testing.ts'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { EngineUnderTest } from '../../contract/engine-under-test.ts'
import type { TaskEngine } from '../engine.ts'
import { passTime } from '../../../test/pass-time.ts'
import { postgresEngine } from './postgres-engine.ts'

let server: RealPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())

/** The engines of several instances, each with a separate pool, over empty tables. */
async function instances(): Promise<EngineUnderTest> {
  const pool = server.pool()
  const engines: TaskEngine[] = []
  await pool.query(
    'DO $$ BEGIN IF to_regclass($q$mcp_tasks.task$q$) IS NOT NULL THEN DELETE FROM mcp_tasks.task; END IF; END $$',
  )
  return {
    open: async () => {
      const engine = postgresEngine(server.url)
      engines.push(engine)
      return engine
    },
    advanceTime: (ms) => passTime((text, values) => pool.query(text, [...(values ?? [])]).then(({ rows }) => rows), ms),
    close: async () => {
      await Promise.all(engines.map((engine) => engine.close()))
      await pool.end()
    },
  }
}

describe('the engine over PostgreSQL passes the contract', () => {
  for (const { title, run } of engineContract(instances)) test(title, run)
})
