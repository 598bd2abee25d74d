import type { ClaimRequest, ClaimResult, ClaimedTask } from '../engine.ts'
import { fromStoredText, toStoredText } from '../stored-values.ts'
import type { SqlRow } from './sql-database.ts'
import { timeFromNowSql, notExpiredCondition, type SqlStore } from './sql-store.ts'
import { claimColumns, claimedTaskId, claimedTaskOf } from './task-rows.ts'

/**
 * Claims tasks that are ready or whose lease has expired, in one statement. A row that a write has locked is skipped,
 * because its worker is alive. Rows are selected by `id = ANY(ARRAY(…))`: for a join, the planner uses the primary key
 * only after statistics exist.
 */
export async function claimTasks(store: SqlStore, { maxClaims, id, worker }: ClaimRequest): Promise<ClaimResult> {
  if (maxClaims < 1) return { tasks: [], nextDueMs: undefined }
  const { database, tables, leaseMs } = store
  const rows = await database.query(
    `WITH due AS MATERIALIZED (
      SELECT id, extract(epoch FROM statement_timestamp() - due_at)::float8 * 1000 AS waited_ms FROM ${tables.task}
      WHERE due_at <= statement_timestamp() AND ${notExpiredCondition}${id === undefined ? '' : ' AND id = $4'}
      ORDER BY due_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE ${tables.task} SET attempt = attempt + 1, failures = failures + leased::integer, leased = true,
        token = gen_random_uuid()::text, worker = $3::text, due_at = ${timeFromNowSql('$2')}
      WHERE id = ANY(ARRAY(SELECT id FROM due)) RETURNING ${claimColumns}, created_at
    )
    SELECT next_due_ms, waited_ms, claimed.* FROM (
      SELECT extract(epoch FROM min(due_at) - statement_timestamp())::float8 * 1000 AS next_due_ms
      FROM ${tables.task} WHERE due_at > statement_timestamp()
    ) AS next LEFT JOIN (claimed JOIN due USING (id)) ON true ORDER BY created_at`,
    [maxClaims, leaseMs, worker ?? null, ...(id === undefined ? [] : [toStoredText(id)])],
  )
  const nextDueMs = rows[0]?.['next_due_ms'] ?? undefined
  return {
    tasks: await withStoredEntries(
      store,
      rows.filter((row) => row['id'] !== null),
    ),
    nextDueMs: nextDueMs === undefined ? undefined : Number(nextDueMs),
  }
}

/** Ids of ready tasks, in the order in which they became due. */
export async function listDueTasks({ database, tables }: SqlStore, limit: number): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT id FROM ${tables.task} WHERE due_at <= statement_timestamp() AND ${notExpiredCondition}
    ORDER BY due_at LIMIT $1::bigint`,
    [limit],
  )
  return rows.map((row) => fromStoredText(claimedTaskId(row)))
}

async function withStoredEntries(
  { database, tables }: SqlStore,
  rows: readonly SqlRow[],
): Promise<readonly ClaimedTask[]> {
  // Before its first attempt a task has no entries, and most tasks have only one attempt.
  const ids = rows.filter(({ attempt }) => Number(attempt) > 1).map(claimedTaskId)
  // After the claim no write of the earlier attempt can succeed, so a statement after it reads all entries.
  const entrySql = (table: string): string =>
    `SELECT '${table}' AS source, task_id, entry FROM ${table} WHERE task_id = ANY($1::text[])`
  const sql = `${entrySql(tables.journal)} UNION ALL ${entrySql(tables.answer)}`
  const storedEntries = ids.length === 0 ? [] : await database.query(sql, [ids])
  // Bounded by the rows of one claim.
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
    return claimedTaskOf(row, { entries: entriesOf(id, tables.journal), answers: entriesOf(id, tables.answer) })
  })
}
