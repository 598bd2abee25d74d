import type { RealPostgres } from '@tooling/real-servers/postgres'
import { expect } from 'vitest'

/**
 * Waits until no client is connected: pools have ended before their sockets are closed, and would be told of the
 * server's end.
 */
export async function untilLeft(server: RealPostgres): Promise<void> {
  const pool = server.pool({ max: 1 })
  const others = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  await expect.poll(async () => (await pool.query(others)).rows).toEqual([])
  await pool.end()
}
