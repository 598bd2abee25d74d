import { startPostgres } from '@tooling/real-servers/postgres'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { checkBuilt, endStarted, start } from '../testing/start-app.ts'

const timeout = 120_000

beforeAll(checkBuilt)
afterEach(endStarted)

describe('with a PostgreSQL', { timeout }, () => {
  test('tasks are kept there, and the walk-through goes the same way', async () => {
    const postgres = await startPostgres()
    try {
      const environment = { TASKS_DATABASE: postgres.url, TASKS_TAKEOVER_MS: '2000' }
      const { code, output } = await start(['--once', '--port', '0'], environment).ended
      expect(output).toContain('Tasks are kept in TASKS_DATABASE.')
      expect(output).toContain('All 15 steps went as expected.')
      expect(code).toBe(0)
      const pool = postgres.pool()
      const { rows } = await pool.query('SELECT status FROM mcp_tasks.task')
      await pool.end()
      expect(rows).toEqual([{ status: 'completed' }])
    } finally {
      await postgres.close()
    }
  })
})
