import { platformRuntime, withTimeout } from '@x/core'
import { ignoreConnectionErrors } from '@x/core/postgres'
import { type PostgresConnection, type PostgresPool, type PostgresQuery, postgresBus } from '@x/server/postgres'
import type { Query, SqlDatabase, SqlRow } from './sql-database.ts'

export interface PoolSettings {
  readonly pool: PostgresPool
  readonly listenPool: PostgresPool
  readonly channel: string
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
  /** Closes the pool if the engine has created it. Otherwise does nothing. */
  readonly end: () => Promise<void>
}

/** Creating and migrating tables may take this many times longer. */
const maintenanceTimeoutFactor = 6

/**
 * Milliseconds without a message after which the listening connection is checked. Until then a broken connection only
 * causes a delay, because workers also poll.
 */
const keepAliveMs = 30_000

export function createPoolDatabase(settings: PoolSettings): SqlDatabase {
  const { pool, listenPool, channel, timeoutMs, onError, end } = settings
  return {
    query: (text, values) =>
      useConnection(pool, timeoutMs, (connection) => createConnectionQuery(connection, timeoutMs)(text, values)),
    transaction: (work, options) =>
      runInTransaction(pool, timeoutMs * (options?.isMaintenance ? maintenanceTimeoutFactor : 1), work),
    bus: postgresBus(pool, {
      channel,
      listenPool,
      timeoutMs,
      keepAliveMs,
      log: ({ err }) => err !== undefined && onError(err),
    }),
    close: end,
  }
}

/**
 * Runs a function with a connection of the pool. Waiting for one has a time limit, because an application's pool may
 * wait for ever for a server that does not answer. After an error the connection is closed, because it may still be
 * busy.
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
  // A bus sees only the connections that the pool opens after it was created.
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
    // `pg` accepts several statements in one query only without values.
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
    // If this process is suspended during a transaction, the server must end it, because other processes wait for its
    // locks.
    await query(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${timeoutMs}; SET LOCAL statement_timeout = ${timeoutMs}`,
    )
    const value = await work(query)
    await query('COMMIT')
    return value
  })
}

/** For several statements, `pg` gives an array of results. */
function rowsOf(result: unknown): readonly SqlRow[] {
  if (Array.isArray(result)) return result.flatMap(rowsOf)
  if (typeof result !== 'object' || result === null || !('rows' in result) || !Array.isArray(result.rows)) return []
  return result.rows
}
