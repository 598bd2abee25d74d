import type { ClaimedTask } from '../engine.ts'
import type { Query, SqlRow } from './sql-database.ts'
import { timeFromNowSql, aliveCondition, type SqlStore } from './sql-store.ts'
import { claimColumns, claimedTaskId, toClaimedTask } from './task-rows.ts'

/**
 * Claims tasks whose worker has gone, then those that are ready. A task's row is what counts: a job whose task is not
 * ready any more, because it was cancelled or has expired, is taken out of the queue and no more.
 */
export async function claimTasks(store: SqlStore, maxClaims: number): Promise<readonly ClaimedTask[]> {
  if (maxClaims < 1) return []
  return store.database.transaction(async (query) => {
    const expiredRows = await claimExpiredLeases(store, query, maxClaims)
    const queuedRows =
      expiredRows.length < maxClaims ? await claimQueuedTasks(store, query, maxClaims - expiredRows.length) : []
    return withStoredEntries(store, query, [...expiredRows, ...queuedRows])
  })
}

/** Rows that another is writing to are left: who writes is alive. */
function claimExpiredLeases(
  { tables, leaseMs }: SqlStore,
  query: Query,
  maxClaims: number,
): Promise<readonly SqlRow[]> {
  return query(
    `WITH gone AS (
      SELECT id AS gone_id FROM ${tables.task}
      WHERE leased_until <= statement_timestamp() AND status = 'working' AND ${aliveCondition}
      ORDER BY leased_until LIMIT $1::bigint FOR UPDATE SKIP LOCKED
    )
    UPDATE ${tables.task} SET attempt = attempt + 1, failures = failures + 1, leased_until = ${timeFromNowSql('$2')}
    FROM gone WHERE id = gone_id
    RETURNING ${claimColumns}`,
    [maxClaims, leaseMs],
  )
}

/** However many jobs there are of tasks that were cancelled or have expired, those behind them are not kept waiting. */
async function claimQueuedTasks(store: SqlStore, query: Query, maxClaims: number): Promise<readonly SqlRow[]> {
  const claimedRows: SqlRow[] = []
  while (claimedRows.length < maxClaims) {
    const ids = await store.queue.take(query, maxClaims - claimedRows.length)
    if (ids.length === 0) break
    claimedRows.push(...(await claimRows(store, query, ids)))
  }
  return claimedRows
}

function claimRows({ tables, leaseMs }: SqlStore, query: Query, ids: readonly string[]): Promise<readonly SqlRow[]> {
  return query(
    `WITH claimed AS (
      UPDATE ${tables.task} SET attempt = attempt + 1, leased_until = ${timeFromNowSql('$2')}
      WHERE id = ANY($1::text[]) AND status = 'working' AND leased_until IS NULL AND ${aliveCondition}
      RETURNING ${claimColumns}, created_at
    )
    SELECT ${claimColumns} FROM claimed ORDER BY created_at`,
    [ids, leaseMs],
  )
}

async function withStoredEntries(
  { tables }: SqlStore,
  query: Query,
  rows: readonly SqlRow[],
): Promise<readonly ClaimedTask[]> {
  // A first attempt has nothing yet, and most tasks have no other.
  const ids = rows.filter(({ attempt }) => Number(attempt) > 1).map(claimedTaskId)
  const entries = await entriesByTask(query, tables.journal, ids)
  const answers = await entriesByTask(query, tables.answer, ids)
  return rows.map((row) => {
    const id = claimedTaskId(row)
    return toClaimedTask(row, { entries: entries.get(id) ?? [], answers: answers.get(id) ?? [] })
  })
}

async function entriesByTask(query: Query, table: string, ids: readonly string[]): Promise<Map<unknown, SqlRow[]>> {
  if (ids.length === 0) return new Map()
  const rows = await query(`SELECT task_id, entry FROM ${table} WHERE task_id = ANY($1::text[])`, [ids])
  const rowsByTask = new Map<unknown, SqlRow[]>()
  for (const row of rows) {
    const rowsOfTask = rowsByTask.get(row['task_id'])
    if (rowsOfTask === undefined) rowsByTask.set(row['task_id'], [row])
    else rowsOfTask.push(row)
  }
  return rowsByTask
}
