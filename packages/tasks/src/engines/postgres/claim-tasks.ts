import type { ClaimedTask } from '../engine.ts'
import type { Query, SqlRow } from './sql-database.ts'
import { fromNow, isAlive, type SqlStore } from './sql-store.ts'
import { claimColumns, claimedId, claimedTask } from './task-rows.ts'

/**
 * Claims tasks whose worker has gone, then those that are ready. A task's row is what counts: a job whose task is not ready any more,
 * because it was cancelled or has expired, is taken out of the queue and no more.
 */
export async function claimTasks(store: SqlStore, most: number): Promise<readonly ClaimedTask[]> {
  if (most < 1) return []
  return store.database.transaction(async (query) => {
    const remaining = await claimLeft(store, query, most)
    const ready = remaining.length < most ? await claimReady(store, query, most - remaining.length) : []
    return withStored(store, query, [...remaining, ...ready])
  })
}

/** Rows that another is writing to are left: who writes is alive. */
function claimLeft({ tables, leaseMs }: SqlStore, query: Query, most: number): Promise<readonly SqlRow[]> {
  return query(
    `WITH gone AS (
      SELECT id AS gone_id FROM ${tables.task}
      WHERE leased_until <= statement_timestamp() AND status = 'working' AND ${isAlive}
      ORDER BY leased_until LIMIT $1::bigint FOR UPDATE SKIP LOCKED
    )
    UPDATE ${tables.task} SET attempt = attempt + 1, failures = failures + 1, leased_until = ${fromNow('$2')}
    FROM gone WHERE id = gone_id
    RETURNING ${claimColumns}`,
    [most, leaseMs],
  )
}

/** However many jobs there are of tasks that were cancelled or have expired, those behind them are not kept waiting. */
async function claimReady(store: SqlStore, query: Query, most: number): Promise<readonly SqlRow[]> {
  const claimed: SqlRow[] = []
  while (claimed.length < most) {
    const ids = await store.queue.take(query, most - claimed.length)
    if (ids.length === 0) break
    claimed.push(...(await claimRows(store, query, ids)))
  }
  return claimed
}

function claimRows({ tables, leaseMs }: SqlStore, query: Query, ids: readonly string[]): Promise<readonly SqlRow[]> {
  return query(
    `WITH claimed AS (
      UPDATE ${tables.task} SET attempt = attempt + 1, leased_until = ${fromNow('$2')}
      WHERE id = ANY($1::text[]) AND status = 'working' AND leased_until IS NULL AND ${isAlive}
      RETURNING ${claimColumns}, created_at
    )
    SELECT ${claimColumns} FROM claimed ORDER BY created_at`,
    [ids, leaseMs],
  )
}

async function withStored(
  { tables }: SqlStore,
  query: Query,
  rows: readonly SqlRow[],
): Promise<readonly ClaimedTask[]> {
  // A first attempt has nothing yet, and most tasks have no other.
  const ids = rows.filter(({ attempt }) => Number(attempt) > 1).map(claimedId)
  const entries = await entriesByTask(query, tables.journal, ids)
  const answers = await entriesByTask(query, tables.answer, ids)
  return rows.map((row) => {
    const id = claimedId(row)
    return claimedTask(row, { entries: entries.get(id) ?? [], answers: answers.get(id) ?? [] })
  })
}

async function entriesByTask(query: Query, table: string, ids: readonly string[]): Promise<Map<unknown, SqlRow[]>> {
  if (ids.length === 0) return new Map()
  const rows = await query(`SELECT task_id, entry FROM ${table} WHERE task_id = ANY($1::text[])`, [ids])
  const byTask = new Map<unknown, SqlRow[]>()
  for (const row of rows) {
    const those = byTask.get(row['task_id'])
    if (those === undefined) byTask.set(row['task_id'], [row])
    else those.push(row)
  }
  return byTask
}
