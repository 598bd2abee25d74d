import type { PostgresConnection, PostgresPool } from '@x/server/postgres'
import type { Pool, PoolClient } from 'pg'

/**
 * Behaves like PgBouncer with transaction pooling: each statement outside a transaction, and each transaction, gets a
 * different connection, whose session is reset afterwards. LISTEN succeeds, and has no effect.
 */
export function shareSessions(pool: Pool): PostgresPool {
  const createConnection = (): PostgresConnection => {
    let held: PoolClient | undefined
    return {
      query: async (query) => {
        const client = held ?? (await pool.connect())
        if (query.text.startsWith('BEGIN')) held = client
        let isOver = held === undefined || /^(COMMIT|ROLLBACK)/.test(query.text)
        try {
          return await client.query(query)
        } catch (error) {
          isOver = true
          if (held !== undefined) await client.query('ROLLBACK').catch(() => {})
          throw error
        } finally {
          if (isOver) {
            held = undefined
            await client.query('DISCARD ALL').catch(() => {})
            client.release()
          }
        }
      },
      on: () => undefined,
      release: () => {
        held?.release(true)
        held = undefined
      },
    }
  }
  return { query: (query) => createConnection().query(query), connect: async () => createConnection() }
}
