import { postgresBus } from '@x/server/postgres'
import { createStateTable, postgresStore } from '@x/state-codec/postgres'
import pg from 'pg'

const hourMs = 3_600_000

/** Opens the PostgreSQL that all instances share, if there is one. The pool connects with its first query. */
export function openDatabase(url) {
  if (url === undefined) return undefined
  const pool = new pg.Pool({ connectionString: url })
  // An idle connection that breaks is replaced by the next query. Without a listener, it would end the process.
  pool.on('error', (error) => console.error(`PostgreSQL: ${error.message}`))
  const store = postgresStore(pool)
  const removeExpiredRows = () =>
    store.removeExpiredRows().catch((error) => console.error(`Expired rows remain: ${error.message}`))
  return {
    url,
    store,
    bus: postgresBus(pool),
    async prepare() {
      await createStateTable(pool)
      setInterval(removeExpiredRows, hourMs).unref()
    },
    close: () => pool.end(),
  }
}
