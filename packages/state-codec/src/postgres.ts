import { StateUsageError } from './state-error.ts'
import { defaultTimeoutMs, reach } from './store/reach.ts'
import type { StateStore } from './store/state-store.ts'

/** What is used of a PostgreSQL client: a `Pool` of `pg` is one. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /** The table, with its schema where it has one. Default: `mcp_state`. */
  readonly table?: string | undefined
  /** How long PostgreSQL may take, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number | undefined
}

/** A store in PostgreSQL, which does not forget by itself. */
export interface PostgresStore extends StateStore {
  /** Deletes what has expired, and answers how many; call it from a timer, on any one instance. */
  removeExpired(): Promise<number>
}

/**
 * A store in a table of PostgreSQL, through the application's own pool; {@link stateTableSql} makes the table.
 *
 * Its methods throw `StateError` with `unavailable` when PostgreSQL cannot be reached. Give the pool an `error` listener: `pg` ends the
 * process when an idle connection breaks and nobody listens.
 * @throws StateUsageError for a table's name that is none.
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): PostgresStore {
  const { timeoutMs = defaultTimeoutMs } = options
  const table = quoted(options.table ?? 'mcp_state')
  const query = async (text: string, values: unknown[]): Promise<readonly unknown[]> =>
    (await reach({ name: 'PostgreSQL', timeoutMs }, () => pool.query(text, values))).rows
  // An expired row counts as none; the one statement is atomic whoever else adds the same key.
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
    removeExpired: async () =>
      (await query(`DELETE FROM ${table} WHERE expires_at <= clock_timestamp() RETURNING 1`, [])).length,
  }
}

/**
 * The SQL that makes the table of {@link postgresStore}, once or many times; for a migration tool.
 *
 * @throws StateUsageError for a table's name that is none.
 */
export function stateTableSql(table = 'mcp_state'): string {
  const name = quoted(table)
  const index = `"${table.replace('.', '_').slice(0, 50)}_expires_at"`
  return `CREATE TABLE IF NOT EXISTS ${name} (
  key text PRIMARY KEY,
  value text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS ${index} ON ${name} (expires_at);`
}

/** Makes the table of {@link postgresStore} where it is not there. */
export async function createStateTable(pool: PostgresPool, table?: string): Promise<void> {
  await pool.query(stateTableSql(table))
}

function valueOf(row: unknown): string | undefined {
  if (typeof row !== 'object' || row === null || !('value' in row)) return undefined
  return typeof row.value === 'string' ? row.value : undefined
}

/** A name cannot be a parameter of a query, so it is held to a grammar and quoted. */
function quoted(table: string): string {
  const parts = table.split('.')
  if (parts.length <= 2 && parts.every((part) => /^[a-z_][a-z0-9_]{0,62}$/.test(part))) {
    return parts.map((part) => `"${part}"`).join('.')
  }
  throw new StateUsageError(
    'configuration',
    `table is "${table}": use small letters, digits and underscores, as in state.mcp_state`,
  )
}
