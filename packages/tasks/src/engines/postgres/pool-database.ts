import { platformRuntime, withTimeout } from '@x/core'
import { type PostgresConnection, type PostgresPool, type PostgresQuery, postgresBus } from '@x/server/postgres'
import type { Query, SqlDatabase, SqlRow } from './sql-database.ts'

/** The pools of an engine, and its time limits. */
export interface PoolSettings {
  readonly pool: PostgresPool
  readonly listenPool: PostgresPool
  readonly channel: string
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
  /** Closes the pool, where it is the engine's own. */
  readonly end: () => Promise<void>
}

/** The factor of the time limit for the creation and migration of tables. */
const maintenanceTimeoutFactor = 6

/** Milliseconds of silence after which the listening connection is checked. Workers poll meanwhile. */
const keepAliveMs = 30_000

/** A database over a pool of connections. */
export function createPoolDatabase(settings: PoolSettings): SqlDatabase {
  const { pool, listenPool, channel, timeoutMs, onError, end } = settings
  return {
    query: (text, values) =>
      useConnection(pool, timeoutMs, (connection) => createConnectionQuery(connection, timeoutMs)(text, values)),
    transaction: (work, options) =>
      runInTransaction(pool, timeoutMs * (options?.isMaintenance ? maintenanceTimeoutFactor : 1), work),
    bus: postgresBus(pool, { channel, listenPool, timeoutMs, keepAliveMs, log: ({ err }) => onError(err) }),
    close: end,
  }
}

/**
 * Uses a connection of the pool. An application's pool may wait for a silent server without end, so that the wait for a
 * connection is bounded here. After an error the connection is closed, because it may still be busy.
 */
async function useConnection<T>(
  pool: PostgresPool,
  timeoutMs: number,
  use: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const createTimeoutError = (): Error => new Error(`The pool gave no connection within ${timeoutMs} ms`)
  let isLate = false
  const connection = await withTimeout({ timeoutMs, clock: platformRuntime, createTimeoutError }, async () => {
    const opened = await pool.connect()
    if (isLate) opened.release(false)
    return opened
  }).catch((error: unknown) => {
    isLate = true
    throw error
  })
  ignoreConnectionErrors(connection)
  try {
    const value = await use(connection)
    connection.release(false)
    return value
  } catch (error) {
    connection.release(true)
    throw error
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
  return useConnection(pool, timeoutMs, async (connection) => {
    const query = createConnectionQuery(connection, timeoutMs)
    // A process that is stopped in the middle must not keep its rows locked: others wait for them.
    await query(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${timeoutMs}; SET LOCAL statement_timeout = ${timeoutMs}`,
    )
    const value = await work(query)
    await query('COMMIT')
    return value
  })
}

/** The connections that have a listener already: a pool gives the same one repeatedly. */
const watchedConnections = new WeakSet<PostgresConnection>()

/**
 * Adds a listener for errors of a connection, which reject its query as well. Without one they would end the process.
 * The listener of the bus is on the connections that the pool opens later, and this one may be older.
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
