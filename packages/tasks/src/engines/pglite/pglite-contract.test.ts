import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { passTime } from '../../../test/pass-time.ts'
import type { EngineUnderTest } from '../../contract/engine-under-test.ts'
import { engineContract } from '../../testing.ts'
import type { TaskEngine } from '../engine.ts'
import { pgliteEngine } from './pglite-engine.ts'

let pglite: PGlite
beforeAll(async () => {
  pglite = await PGlite.create()
})
afterAll(() => pglite.close())

/** Engines that share the only database of this process, with empty tables. */
async function engines(): Promise<EngineUnderTest> {
  const opened: TaskEngine[] = []
  await pglite.exec('DROP SCHEMA IF EXISTS mcp_tasks CASCADE')
  return {
    open: async () => {
      const engine = pgliteEngine(pglite)
      opened.push(engine)
      return engine
    },
    advanceTime: (ms) =>
      passTime(
        (text, values) => pglite.query<Record<string, unknown>>(text, [...(values ?? [])]).then(({ rows }) => rows),
        ms,
      ),
    close: async () => {
      for (const engine of opened) await engine.close()
    },
  }
}

describe('the engine over PGlite passes the contract', () => {
  for (const { title, run } of engineContract(engines)) test(title, run)
})
