/**
 * A store of states in PostgreSQL.
 *
 * @module @x/state-codec/postgres
 */

import { StateUsageError } from './state-error.ts'
import { defaultTimeoutMs, callStore } from './store/call-store.ts'
import type { StateStore } from './state-codec.ts'

/** The part of a PostgreSQL client that the store uses; a `Pool` of `pg` has it. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /** The table, optionally with its schema. Default: `mcp_state`. */
  readonly table?: string | undefined
  /** The time limit of a query, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number | undefined
}

/** A store in PostgreSQL. Expired rows stay until `deleteExpired` removes them. */
export interface PostgresStore extends StateStore {
  /** Deletes expired rows and returns their number. Call it from a timer on one instance. */
  removeExpired(): Promise<number>
}

/**
 * Creates a store in a PostgreSQL table, over the application's own pool; {@link stateTableSql} has the table.
 *
 * Its methods throw `StateError` with `unavailable` when PostgreSQL cannot be reached. Add an `error` listener to the
 * pool: without one, `pg` ends the process when an idle connection breaks.
 *
 * @throws StateUsageError for an invalid table name.
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): PostgresStore {
  const { timeoutMs = defaultTimeoutMs } = options
  const table = quoteTableName(options.table ?? 'mcp_state')
  const query = async (text: string, values: unknown[]): Promise<readonly unknown[]> =>
    (await callStore({ name: 'PostgreSQL', timeoutMs }, () => pool.query(text, values))).rows
  // An expired row counts as absent. The single statement is atomic when several instances add the same key.
  const add = `INSERT INTO ${table} AS kept (key, value, expires_at)
    VALUES ($1, $2, clock_timestamp() + $3::float8 * interval '1 millisecond')
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
    WHERE kept.expires_at <= clock_timestamp()
    RETURNING 1`
  return {
    add: async (key, value, ttlMs) => (await query(add, [key, value, ttlMs])).length > 0,
    async get(key) {
      const text = `SELECT value FROM ${table} WHERE key = $1 AND expires_at > clock_timestamp()`
      const [row] = await query(text, [key])
      return valueOf(row)
    },
    async delete(key) {
      await query(`DELETE FROM ${table} WHERE key = $1`, [key])
    },
    async expire(key, ttlMs) {
      const until = `clock_timestamp() + $2::float8 * interval '1 millisecond'`
      await query(`UPDATE ${table} SET expires_at = LEAST(expires_at, ${until}) WHERE key = $1`, [key, ttlMs])
    },
    removeExpired: async () =>
      (await query(`DELETE FROM ${table} WHERE expires_at <= clock_timestamp() RETURNING 1`, [])).length,
  }
}

/**
 * Returns the idempotent SQL that creates the table of {@link postgresStore}, for a migration tool.
 *
 * @throws StateUsageError for an invalid table name.
 */
export function stateTableSql(table = 'mcp_state'): string {
  const name = quoteTableName(table)
  const index = `"${table.replace('.', '_').slice(0, 50)}_expires_at"`
  return `CREATE TABLE IF NOT EXISTS ${name} (
  key text PRIMARY KEY,
  value text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS ${index} ON ${name} (expires_at);`
}

/** Creates the table of {@link postgresStore} if it does not exist. */
export async function createStateTable(pool: PostgresPool, table?: string): Promise<void> {
  await pool.query(stateTableSql(table))
}

function valueOf(row: unknown): string | undefined {
  if (typeof row !== 'object' || row === null || !('value' in row)) return undefined
  return typeof row.value === 'string' ? row.value : undefined
}

/** A table name cannot be a query parameter, so it is validated against a grammar and quoted. */
function quoteTableName(table: string): string {
  const parts = table.split('.')
  if (parts.length <= 2 && parts.every((part) => /^[a-z_][a-z0-9_]{0,62}$/.test(part))) {
    return parts.map((part) => `"${part}"`).join('.')
  }
  throw new StateUsageError(
    'configuration',
    `table is "${table}": use lower-case letters, digits and underscores, as in state.mcp_state`,
  )
}
