import { postgresBus } from '@x/server/postgres'
import { createStateTable, postgresStore } from '@x/state-codec/postgres'
import { postgresEngine } from '@x/tasks/postgres'
import pg from 'pg'

const hourMs = 3_600_000

/** Opens the PostgreSQL that all instances share, if there is one. The pools connect with their first query. */
export function openDatabase(url, listenUrl = url) {
  if (url === undefined) return undefined
  // One pool for tasks, changes and older clients: an instance never takes more connections. Two of them listen.
  const pool = openPool({ connectionString: url, max: 10 })
  // Behind a pooler that shares sessions, the two connections that listen go to PostgreSQL itself.
  const listenPool = listenUrl === url ? pool : openPool({ connectionString: listenUrl, max: 2 })
  const store = postgresStore(pool)
  const removeExpiredRows = () =>
    store.removeExpiredRows().catch((error) => console.error(`Expired rows remain: ${error.message}`))
  return {
    engine: postgresEngine(pool, { listenPool }),
    store,
    bus: postgresBus(pool, { listenPool }),
    async prepare() {
      await createStateTable(pool)
      setInterval(removeExpiredRows, hourMs).unref()
    },
    close: () => Promise.all([...new Set([pool, listenPool])].map((each) => each.end())),
  }
}

function openPool(options) {
  // A connection that is accepted and never answered would otherwise keep its place in the pool for ever.
  const pool = new pg.Pool({ connectionTimeoutMillis: 5000, ...options })
  // An idle connection that breaks is replaced by the next query. Without a listener, it would end the process.
  pool.on('error', (error) => console.error(`PostgreSQL: ${error.message}`))
  return pool
}
