import {
  busUnavailableError,
  importPeerDependency,
  type OptionTable,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import { ignoreErrorEvents } from '@x/core/postgres'
import type { PostgresPool } from '@x/server/postgres'
import type { TaskEngine } from '../engine.ts'
import { createPoolDatabase } from './pool-database.ts'
import type { SqlDatabase } from './sql-database.ts'
import { createLoggedEngine, errorReporterOf } from '../lazy-engine.ts'
import { type SqlEngineOptions, sqlEngine, sqlOptionTable } from './sql-engine.ts'

/** Options of {@link postgresEngine}. */
export interface PostgresEngineOptions extends SqlEngineOptions {
  /** Time limit of a statement, and of the wait for a connection of the pool, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined
  /**
   * Pool for the connection that listens. Default: the engine's. Behind a proxy that shares sessions, such as PgBouncer
   * with transaction pooling, LISTEN has no effect; give a pool here that connects to PostgreSQL directly.
   */
  readonly listenPool?: PostgresPool | undefined
}

const engineOptionTable = {
  ...sqlOptionTable,
  timeoutMs: 10_000,
  listenPool: undefined,
} satisfies OptionTable<PostgresEngineOptions>

/**
 * Stores tasks in PostgreSQL, for several instances: in the tables of a separate schema, with LISTEN and NOTIFY to
 * notify the workers. Takes a URL, or the application's own `Pool` of `pg`, which is not closed. That pool needs a
 * `max` of at least 2, and `connectionTimeoutMillis`: without it, a connection that is accepted and never answered
 * keeps its place in the pool.
 *
 * The first call creates the tables. Needs the package `pg`. Throws `RangeError` for an invalid option.
 *
 * @example
 * tasks({ store: postgresEngine('postgres://localhost/app', { leaseMs: 30_000 }) })
 */
export function postgresEngine(database: string | PostgresPool, options: PostgresEngineOptions = {}): TaskEngine {
  const resolved = resolveOptions(options, engineOptionTable, 'postgresEngine')
  return createLoggedEngine(resolved, (logged) => sqlEngine(() => openPool(database, logged), logged))
}

async function openPool(
  database: string | PostgresPool,
  options: ResolvedOptions<PostgresEngineOptions, typeof engineOptionTable>,
): Promise<SqlDatabase> {
  const { timeoutMs, schema } = options
  const onError = errorReporterOf(options, 'PostgreSQL')
  const open = (pool: PostgresPool, end: () => Promise<void>): SqlDatabase =>
    createPoolDatabase({ channel: schema, timeoutMs, onError, pool, listenPool: options.listenPool ?? pool, end })
  if (typeof database !== 'string') {
    ignoreErrorEvents(database)
    return open(database, async () => {})
  }
  const { default: pg } = await importPeerDependency('pg@8', () => import('pg'), 'This engine')
  const pool = new pg.Pool({ connectionString: database, connectionTimeoutMillis: timeoutMs })
  // Without this listener, an idle connection that breaks would end the process.
  pool.on('error', (cause) => onError(busUnavailableError('PostgreSQL', cause)))
  return open(pool, () => pool.end())
}
