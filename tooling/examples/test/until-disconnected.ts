import type { RealPostgres } from '@tooling/real-servers/postgres'
import { expect } from 'vitest'

/**
 * Waits until no client is connected. A pool ends before its sockets are closed, and an open socket reports the end of
 * the server as an error.
 */
export async function untilDisconnected(server: RealPostgres): Promise<void> {
  const pool = server.pool({ max: 1 })
  const others = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  await expect.poll(async () => (await pool.query(others)).rows).toEqual([])
  await pool.end()
}
