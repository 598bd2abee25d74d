import type { ClaimedTask } from '../engine.ts'
import type { SqlRow } from './sql-database.ts'
import { timeFromNowSql, notExpiredCondition, type SqlStore } from './sql-store.ts'
import { claimColumns, claimedTaskId, toClaimedTask } from './task-rows.ts'

/**
 * Claims tasks whose worker has disappeared, then those that are ready. A task's row is what counts: a job whose task
 * is not ready any more, because it was cancelled or has expired, is taken out of the queue and no more.
 */
export async function claimTasks(store: SqlStore, maxClaims: number): Promise<readonly ClaimedTask[]> {
  if (maxClaims < 1) return []
  const { rows, hasDroppedJobs } = await claimRows(store, maxClaims)
  // However many jobs are dropped, the tasks behind them are not kept waiting.
  if (hasDroppedJobs && rows.length === 0) return claimTasks(store, maxClaims)
  if (hasDroppedJobs) store.notifyWork()
  return withStoredEntries(store, rows)
}

/** The rows of claimed tasks. */
interface ClaimedRows {
  readonly rows: readonly SqlRow[]
  /** True when jobs were dropped in whose place others could have been taken. */
  readonly hasDroppedJobs: boolean
}

/**
 * Claims in one statement. Of tasks whose lease has run out, rows that another is writing to are left: who writes is
 * alive. A job and the state of its task were written together, so that a transaction that sees the one sees the other.
 */
async function claimRows({ database, queue, tables, leaseMs }: SqlStore, maxClaims: number): Promise<ClaimedRows> {
  const rows = await database.query(
    `WITH gone AS MATERIALIZED (
      SELECT id FROM ${tables.task}
      WHERE leased_until <= statement_timestamp() AND status = 'working' AND ${notExpiredCondition}
      ORDER BY leased_until LIMIT $1::bigint FOR UPDATE SKIP LOCKED
    ), taken AS (
      ${queue.createTakeSql('$1::bigint - (SELECT count(*) FROM gone)')}
    ), ready AS MATERIALIZED (
      SELECT id AS ready_id, 1 AS failed FROM gone UNION ALL SELECT task_id, 0 FROM taken
    ), claimed AS (
      UPDATE ${tables.task} SET attempt = attempt + 1, failures = failures + failed, leased_until = ${timeFromNowSql('$2')}
      FROM ready
      WHERE id = ready_id AND status = 'working' AND (failed = 1 OR leased_until IS NULL) AND ${notExpiredCondition}
      RETURNING ${claimColumns}, created_at, failed
    )
    SELECT jobs, failed, ${claimColumns} FROM (SELECT count(*)::integer AS jobs FROM taken) AS counted LEFT JOIN claimed ON true
    ORDER BY failed DESC, created_at`,
    [maxClaims, leaseMs],
  )
  const claimedRows = rows.filter(({ id }) => id !== null)
  const expiredCount = claimedRows.filter(({ failed }) => failed === 1).length
  const takenJobCount = Number(rows[0]?.['jobs'])
  return {
    rows: claimedRows,
    hasDroppedJobs: expiredCount + takenJobCount === maxClaims && claimedRows.length < maxClaims,
  }
}

async function withStoredEntries(
  { database, tables }: SqlStore,
  rows: readonly SqlRow[],
): Promise<readonly ClaimedTask[]> {
  // A first attempt has nothing yet, and most tasks have no other.
  const ids = rows.filter(({ attempt }) => Number(attempt) > 1).map(claimedTaskId)
  // In a statement of its own, which sees what the attempt before has written until it lost the task.
  const entrySql = (table: string): string =>
    `SELECT '${table}' AS source, task_id, entry FROM ${table} WHERE task_id = ANY($1::text[])`
  const sql = `${entrySql(tables.journal)} UNION ALL ${entrySql(tables.answer)}`
  const storedEntries = ids.length === 0 ? [] : await database.query(sql, [ids])
  const rowsByOrigin = new Map<string, SqlRow[]>()
  for (const entry of storedEntries) {
    const originKey = `${entry['source']} ${entry['task_id']}`
    const originRows = rowsByOrigin.get(originKey)
    if (originRows === undefined) rowsByOrigin.set(originKey, [entry])
    else originRows.push(entry)
  }
  const entriesOf = (id: string, table: string): readonly SqlRow[] => rowsByOrigin.get(`${table} ${id}`) ?? []
  return rows.map((row) => {
    const id = claimedTaskId(row)
    return toClaimedTask(row, { entries: entriesOf(id, tables.journal), answers: entriesOf(id, tables.answer) })
  })
}
