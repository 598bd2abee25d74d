import type { InspectedTask, OpenTaskState, RevokeOutcome, TaskCount, TaskFilter, TaskPage } from '../engine.ts'
import { fromStoredText, toStoredText, toTaskStatus } from '../stored-values.ts'
import { toTaskSummary } from '../task-summary.ts'
import type { SqlRow } from './sql-database.ts'
import { endClaimSql, notExpiredCondition, openTaskCondition, type SqlStore } from './sql-store.ts'
import { rowColumns, taskRowOf } from './task-rows.ts'

/** NULL if the task has ended. */
const stateSql = `CASE WHEN NOT ${openTaskCondition} THEN NULL WHEN due_at IS NULL THEN 'waiting'
  WHEN due_at <= statement_timestamp() THEN 'ready' WHEN leased THEN 'running' ELSE 'paused' END`

const operatorColumns = `owner, tool, attempt, failures, worker, ${stateSql} AS state,
  extract(epoch FROM due_at - statement_timestamp())::float8 * 1000 AS due_in_ms`

/** Reads any owner's task, by its primary key. */
export async function inspectTask({ database, tables }: SqlStore, id: string): Promise<InspectedTask | undefined> {
  const [row] = await database.query(
    `SELECT ${rowColumns}, ${operatorColumns} FROM ${tables.task} WHERE id = $1 AND ${notExpiredCondition}`,
    [toStoredText(id)],
  )
  return row && inspectedTaskOf(row)
}

function inspectedTaskOf(row: SqlRow): InspectedTask {
  const { owner, tool, state, attempt, failures, worker, due_in_ms: dueInMs } = row
  return {
    ...taskRowOf(row),
    owner: fromStoredText(String(owner)),
    tool: fromStoredText(String(tool)),
    // `stateSql` computes the column, so it has no other values.
    state: state === null ? undefined : (String(state) as OpenTaskState),
    attempt: Number(attempt),
    failures: Number(failures),
    worker: worker === null ? undefined : String(worker),
    dueInMs: dueInMs === null ? undefined : Number(dueInMs),
  }
}

/** Ends the claim of a task, whichever worker has it. */
export async function revokeTask({ database, tables, notifyWork }: SqlStore, id: string): Promise<RevokeOutcome> {
  const [row] = await database.query(
    `WITH found AS MATERIALIZED (
      SELECT id, status FROM ${tables.task} WHERE id = $1 AND ${notExpiredCondition} FOR UPDATE
    ), revoked AS (
      UPDATE ${tables.task} SET failures = 0, ${endClaimSql('statement_timestamp()')}
      WHERE id = ANY(ARRAY(SELECT id FROM found WHERE status = 'working'))
    )
    SELECT status FROM found`,
    [toStoredText(id)],
  )
  if (row === undefined) return 'unknown'
  if (row['status'] === 'input_required') return 'waiting'
  if (row['status'] !== 'working') return 'finished'
  notifyWork()
  return 'revoked'
}

const cursorPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (.*)$/s

function parseCursor(cursor: string | undefined): readonly (string | undefined)[] {
  if (cursor === undefined) return []
  const match = cursorPattern.exec(cursor)
  if (match === null) throw new RangeError('cursor is not the nextCursor of a page')
  return match.slice(1)
}

/** Lists any owner's tasks, newest first. Throws `RangeError` if the cursor does not come from a page. */
export async function listTasks({ database, tables }: SqlStore, filter: TaskFilter): Promise<TaskPage> {
  const { status, tool, owner, olderThanMs, minFailures, limit, cursor } = filter
  const [time, id] = parseCursor(cursor)
  const rows = await database.query(
    `SELECT ${rowColumns}, ${operatorColumns},
      to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || id AS cursor
    FROM ${tables.task} WHERE ${notExpiredCondition}
      AND ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR tool = $2) AND ($3::text IS NULL OR owner = $3)
      AND ($4::float8 IS NULL OR created_at <= statement_timestamp() - $4 * interval '1 millisecond')
      AND ($5::integer IS NULL OR failures >= $5) AND ($6::timestamptz IS NULL OR (created_at, id) < ($6, $7::text))
    ORDER BY created_at DESC, id DESC LIMIT $8::bigint + 1`,
    [status, tool && toStoredText(tool), owner && toStoredText(owner), olderThanMs, minFailures, time, id, limit].map(
      (value) => value ?? null,
    ),
  )
  const page = rows.slice(0, limit)
  return {
    tasks: page.map((row) => toTaskSummary(inspectedTaskOf(row))),
    ...(rows.length > limit && { nextCursor: String(page.at(-1)?.['cursor']) }),
  }
}

/** Counts open tasks by tool and state. Two partial indexes find them, however many tasks have ended. */
export async function countTasks({ database, tables }: SqlStore): Promise<readonly TaskCount[]> {
  const openSql = (condition: string): string =>
    `SELECT tool, status, ${stateSql} AS state, CASE WHEN due_at <= statement_timestamp() THEN due_at ELSE created_at END AS since
    FROM ${tables.task} WHERE ${condition} AND ${notExpiredCondition}`
  const rows = await database.query(
    `SELECT tool, status, state, count(*)::integer AS count,
      extract(epoch FROM statement_timestamp() - min(since))::float8 * 1000 AS oldest_age_ms
    FROM (${openSql('due_at IS NOT NULL')} UNION ALL ${openSql("status = 'input_required'")}) AS open
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  )
  return rows.map((row) => ({
    tool: fromStoredText(String(row['tool'])),
    status: toTaskStatus(row['status']),
    // The query excludes tasks that have ended, which have no state.
    state: row['state'] as OpenTaskState,
    count: Number(row['count']),
    oldestAgeMs: Number(row['oldest_age_ms']),
  }))
}
