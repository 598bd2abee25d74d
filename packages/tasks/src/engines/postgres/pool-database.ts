import { type PostgresConnection, type PostgresPool, type PostgresQuery, postgresBus } from '@x/server/postgres'
import type { Query, SqlDatabase, SqlRow } from './sql-database.ts'

/** The pools of an engine, and its time limits. */
export interface PoolSettings {
  readonly pool: PostgresPool
  readonly listenPool: PostgresPool
  readonly channel: string
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
  /** Lets go of the pool, where it is the engine's own. */
  readonly end: () => Promise<void>
}

/** Factor by which the time limit grows for the installation and maintenance of tables. */
const maintenanceTimeoutFactor = 6

/** A database over a pool of connections. */
export function createPoolDatabase(settings: PoolSettings): SqlDatabase {
  const { pool, listenPool, channel, timeoutMs, onError, end } = settings
  return {
    query: createConnectionQuery(pool, timeoutMs),
    maintenanceQuery: createConnectionQuery(pool, timeoutMs * maintenanceTimeoutFactor),
    transaction: (work) => runInTransaction(pool, timeoutMs, work),
    bus: postgresBus(pool, { channel, listenPool, timeoutMs, onError }),
    close: end,
  }
}

function createConnectionQuery(connection: Pick<PostgresConnection, 'query'>, timeoutMs: number): Query {
  return async (text, values) => {
    const query: PostgresQuery = { text, query_timeout: timeoutMs }
    // Several statements at a time go without values only.
    if (values !== undefined && values.length > 0) query.values = [...values]
    return rowsOf(await connection.query(query))
  }
}

async function runInTransaction<T>(
  pool: PostgresPool,
  timeoutMs: number,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  const connection = await pool.connect()
  const query = createConnectionQuery(connection, timeoutMs)
  ignoreConnectionErrors(connection)
  try {
    // A process that is suspended in the middle must not hold its rows: others wait for them to take its tasks over.
    await query(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${timeoutMs}; SET LOCAL statement_timeout = ${timeoutMs}`,
    )
    const value = await work(query)
    await query('COMMIT')
    connection.release(false)
    return value
  } catch (error) {
    // It may still be busy with what took too long: closing it takes everything back.
    connection.release(true)
    throw error
  }
}

/** The connections that have a listener of ours already: a pool gives the same one again and again. */
const watchedConnections = new WeakSet<PostgresConnection>()

/**
 * Adds a listener for errors of a connection, which reject its query as well. Without a listener they would end the
 * process. The bus handles those that a pool opens from then on, and this one may be older, or its pool announce none.
 */
function ignoreConnectionErrors(connection: PostgresConnection): void {
  if (watchedConnections.has(connection)) return
  watchedConnections.add(connection)
  connection.on('error', () => {})
}

/** The rows of a result of `pg`, which is a list where there were several statements. */
function rowsOf(result: unknown): readonly SqlRow[] {
  if (Array.isArray(result)) return result.flatMap(rowsOf)
  if (typeof result !== 'object' || result === null || !('rows' in result) || !Array.isArray(result.rows)) return []
  return result.rows
}
