import { checkedNumber } from '@x/core'
import type { PostgresPool } from '@x/server/postgres'
import type { TaskEngine } from '../engine.ts'
import { createPoolDatabase } from './pool-database.ts'
import { importPeerDependency, type SqlDatabase } from './sql-database.ts'
import { errorReporterOf, type SqlEngineOptions, sqlEngine } from './sql-engine.ts'

/** The options of {@link postgresEngine}. */
export interface PostgresEngineOptions extends SqlEngineOptions {
  /** Milliseconds that a statement may take, and the wait for a connection of the pool. Default: 10,000. */
  readonly timeoutMs?: number | undefined
  /**
   * The pool of the connection that listens. The same pool when absent. Behind a balancer that shares sessions, such as
   * PgBouncer's transaction pooling, it has to be one that connects to PostgreSQL directly.
   */
  readonly listenPool?: PostgresPool | undefined
}

/**
 * An engine over PostgreSQL, for a fleet: tasks in tables of a schema of their own, with LISTEN and NOTIFY for the
 * workers. Takes a URL, or the application's own `Pool` of `pg`, which it does not close. That pool needs an `error`
 * listener and a `max` of at least 2.
 *
 * The first use creates the tables. Needs the package `pg`. Throws `RangeError` for an invalid option.
 *
 * @example
 * tasks({ store: postgresEngine('postgres://localhost/app', { leaseMs: 30_000 }) })
 */
export function postgresEngine(database: string | PostgresPool, options: PostgresEngineOptions = {}): TaskEngine {
  const { timeoutMs = 10_000 } = options
  checkedNumber('timeoutMs', timeoutMs)
  return sqlEngine(() => openPool(database, { ...options, timeoutMs }), options)
}

async function openPool(
  database: string | PostgresPool,
  options: PostgresEngineOptions & { readonly timeoutMs: number },
): Promise<SqlDatabase> {
  const { timeoutMs, schema = 'mcp_tasks' } = options
  const onError = errorReporterOf(options)
  const settings = { channel: schema, timeoutMs, onError }
  if (typeof database !== 'string') {
    return createPoolDatabase({
      ...settings,
      pool: database,
      listenPool: options.listenPool ?? database,
      end: async () => {},
    })
  }
  const { default: pg } = await importPeerDependency('pg@8', () => import('pg'))
  const pool = new pg.Pool({ connectionString: database, connectionTimeoutMillis: timeoutMs })
  // An idle connection that breaks would end the process without this listener.
  pool.on('error', onError)
  return createPoolDatabase({ ...settings, pool, listenPool: options.listenPool ?? pool, end: () => pool.end() })
}
