/**
 * Keeps states in PostgreSQL.
 *
 * @module @x/state-codec/postgres
 */

import { checkArgument, codeOf, maxTimerMs, type OptionTable, resolveOptions } from '@x/core'
import { openPostgres, type PostgresQuery } from '@x/core/postgres'
import { StateUsageError } from './state-error.ts'
import { defaultTimeoutMs, runStoreOperation } from './store/call-store.ts'
import type { StateStore } from './state-codec.ts'
import {
  findReachedLimit,
  type OwnerQuotaOptions,
  ownerQuotaError,
  ownerQuotaOf,
  quotaOptionTable,
  type SharedOperations,
  createOwnerStore,
} from './store/owner-quota.ts'

export type { PostgresQuery } from '@x/core/postgres'
export type { OwnerQuotaOptions } from './store/owner-quota.ts'

/** As much of a PostgreSQL client as the store uses. A `Pool` of `pg` has it. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<unknown>
}

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions extends OwnerQuotaOptions {
  /** Name of the table, optionally with that of its schema. Default: `mcp_state`. */
  readonly table?: string | undefined
  /** Time limit of a query, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number | undefined
}

const storeOptionTable = {
  ...quotaOptionTable,
  table: 'mcp_state',
  timeoutMs: { default: defaultTimeoutMs, max: maxTimerMs },
} satisfies OptionTable<PostgresStoreOptions>

/**
 * A store in PostgreSQL. Expired rows stay until `removeExpiredRows` deletes them. A pool that it made of a URL is its
 * own.
 */
export interface PostgresStore extends StateStore {
  /** Deletes expired rows and returns their number. Call it from a timer on one instance. */
  removeExpiredRows(): Promise<number>
  /** Closes the pool. Does nothing for a pool of the application. */
  close(): Promise<void>
}

/**
 * Keeps states in a table of PostgreSQL. Takes a URL, or your own pool, which is not closed. A URL needs the package
 * `pg`. {@link stateTableSql} has the SQL that creates the table.
 *
 * Its methods throw `StateError` with `unavailable` when PostgreSQL cannot be reached, and with `quota` for an owner
 * whose quota is full. Additions that run at the same time do not see one another, so an owner may exceed the quota by
 * the number of connections. Set the `connectionTimeoutMillis` of a pool of your own: without it, a connection that is
 * accepted and never answered keeps its place in the pool.
 *
 * @throws StateUsageError for an invalid table name, and RangeError for an invalid quota.
 */
export function postgresStore(database: string | PostgresPool, options: PostgresStoreOptions = {}): PostgresStore {
  const { table: tableName, timeoutMs, ...quotas } = resolveOptions(options, storeOptionTable, 'postgresStore')
  const { pool, close } = openPostgres(database, timeoutMs)
  const table = quoteTableName(tableName)
  // At its own time limit, the pool closes the connection of the query, which may never answer.
  const send: Query = async (text, values) => storedRowsOf(await pool.query({ text, values, query_timeout: timeoutMs }))
  const sendToTable = withLostTable(send, tableName)
  const query: Query = (text, values) =>
    runStoreOperation({ name: 'PostgreSQL', timeoutMs }, () => sendToTable(text, values))
  const quota = ownerQuotaOf(quotas)
  const operations = createTableOperations(table, query)
  return {
    add: async (key, value, ttlMs) => (await query(buildAddSql(table), [key, value, ttlMs])).length > 0,
    ...operations,
    forOwner: (owner) =>
      createOwnerStore(owner, operations, async (ownerDigest, key, value, ttlMs) => {
        const entryLength = key.length + value.length
        const values = [key, value, ttlMs, ownerDigest, entryLength, quota.entryCount, quota.characterCount]
        const [row] = await query(buildAddOwnedSql(table), values)
        const { isAdded, wasPresent, entryCount, characterCount, soonestExpiryMs } = parseAddOwnedRow(row)
        const reachedLimit =
          isAdded || wasPresent ? undefined : findReachedLimit({ entryCount, characterCount }, quota, entryLength)
        if (reachedLimit !== undefined) throw ownerQuotaError('The store in PostgreSQL', reachedLimit, soonestExpiryMs)
        return isAdded
      }),
    removeExpiredRows: async () =>
      (await query(`DELETE FROM ${table} WHERE expires_at <= clock_timestamp() RETURNING 1`, [])).length,
    close,
  }
}

type Query = (text: string, values: unknown[]) => Promise<readonly unknown[]>

const undefinedTableCode = '42P01'

/**
 * Creates the table again if it was there and is gone, because the database came back empty. If that fails, the query
 * fails as it did.
 */
function withLostTable(send: Query, tableName: string): Query {
  let wasThere = false
  return async (text, values) => {
    try {
      const rows = await send(text, values)
      wasThere = true
      return rows
    } catch (error) {
      if (!wasThere || codeOf(error) !== undefinedTableCode) throw error
      await send(stateTableSql(tableName), []).catch(() => {
        throw error
      })
      return send(text, values)
    }
  }
}

function createTableOperations(table: string, query: Query): SharedOperations {
  return {
    async get(key) {
      const text = `SELECT value FROM ${table} WHERE key = $1 AND expires_at > clock_timestamp()`
      const [row] = await query(text, [key])
      return storedValueOf(row)
    },
    async delete(key) {
      await query(`DELETE FROM ${table} WHERE key = $1`, [key])
    },
    async expire(key, ttlMs) {
      const expirySql = `clock_timestamp() + $2::float8 * interval '1 millisecond'`
      await query(`UPDATE ${table} SET expires_at = LEAST(expires_at, ${expirySql}) WHERE key = $1`, [key, ttlMs])
    },
  }
}

const expiresAtSql = `clock_timestamp() + $3::float8 * interval '1 millisecond'`

// An expired row counts as absent. The addition is a single statement, so that it is atomic when several instances add
// the same key.
const onConflictSql = `ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at,
      owner = excluded.owner, size = excluded.size
    WHERE kept.expires_at <= clock_timestamp()
    RETURNING 1`

function buildAddSql(table: string): string {
  return `INSERT INTO ${table} AS kept (key, value, expires_at) VALUES ($1, $2, ${expiresAtSql}) ${onConflictSql}`
}

/**
 * Adds a value if it fits into its owner's quota. Through the index, it reads only unexpired rows of the owner, and at
 * most as many as the quota allows. `statement_timestamp()` is constant within a statement, which the use of the index
 * requires.
 */
function buildAddOwnedSql(table: string): string {
  return `WITH own AS (
      SELECT size, expires_at FROM ${table}
      WHERE owner = $4::text AND expires_at > statement_timestamp() ORDER BY expires_at LIMIT $6::bigint
    ), held AS (
      SELECT count(*) AS entries, coalesce(sum(size), 0) AS characters, min(expires_at) AS soonest FROM own
    ), added AS (
      INSERT INTO ${table} AS kept (key, value, expires_at, owner, size)
      SELECT $1::text, $2::text, ${expiresAtSql}, $4::text, $5::integer FROM held
      WHERE entries < $6::bigint AND characters + $5::integer <= $7::bigint
      ${onConflictSql}
    )
    SELECT EXISTS (SELECT FROM added) AS added, entries::float8, characters::float8,
      EXISTS (SELECT FROM ${table} WHERE key = $1::text AND expires_at > statement_timestamp()) AS present,
      (extract(epoch FROM soonest - statement_timestamp()) * 1000)::float8 AS "soonestMs"
    FROM held`
}

function parseAddOwnedRow(row: unknown) {
  const { added, present, entries, characters, soonestMs }: Readonly<Record<string, unknown>> = Object(row)
  return {
    isAdded: added === true,
    wasPresent: present === true,
    entryCount: Number(entries),
    characterCount: Number(characters),
    soonestExpiryMs: soonestMs === null ? Number.POSITIVE_INFINITY : Number(soonestMs),
  }
}

/**
 * Idempotent SQL that creates the table of {@link postgresStore}, for a migration tool. The first statement takes a
 * lock until the end of the transaction, because `IF NOT EXISTS` alone fails when several instances start together.
 *
 * @throws StateUsageError for an invalid table name.
 */
export function stateTableSql(table = 'mcp_state'): string {
  const tableName = quoteTableName(table)
  const indexName = table.replace('.', '_').slice(0, 50)
  return `SELECT pg_advisory_xact_lock(hashtextextended('mcp state: table ${table}', 0));
CREATE TABLE IF NOT EXISTS ${tableName} (
  key text PRIMARY KEY,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  owner text,
  size integer
);
CREATE INDEX IF NOT EXISTS "${indexName}_expires_at" ON ${tableName} (expires_at);
CREATE INDEX IF NOT EXISTS "${indexName}_owner" ON ${tableName} (owner, expires_at) INCLUDE (size) WHERE owner IS NOT NULL;`
}

/**
 * Creates the table of {@link postgresStore} if it does not exist. Several instances may do so at once, because
 * PostgreSQL runs the statements of one query in one transaction.
 */
export async function createStateTable(database: string | PostgresPool, table?: string): Promise<void> {
  if (typeof database !== 'string')
    checkArgument(database, { where: 'createStateTable', takes: 'a URL or a pool of pg', needs: ['query'] })
  const { pool, close } = openPostgres(database)
  await pool.query({ text: stateTableSql(table) }).finally(close)
}

function storedRowsOf(result: unknown): readonly unknown[] {
  const { rows }: { readonly rows?: unknown } = Object(result)
  return Array.isArray(rows) ? rows : []
}

function storedValueOf(row: unknown): string | undefined {
  if (typeof row !== 'object' || row === null || !('value' in row)) return undefined
  return typeof row.value === 'string' ? row.value : undefined
}

/** No query parameter can be a table name, so the name is checked against a grammar and quoted. */
function quoteTableName(table: string): string {
  if (typeof table === 'string' && /^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/.test(table))
    return table
      .split('.')
      .map((part) => `"${part}"`)
      .join('.')
  throw new StateUsageError(
    'configuration',
    `table is "${table}": use lower-case letters, digits and underscores, as in state.mcp_state`,
  )
}
