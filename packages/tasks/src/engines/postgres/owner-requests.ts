import type { JsonObject } from '@x/schema'
import type { TaskAnswerOutcome, CancelOutcome, TaskAnswers, TaskRow } from '../engine.ts'
import { toStoredText } from '../stored-values.ts'
import { createFinishTaskSql, createFinishTaskValues } from './lease-writes.ts'
import type { Query } from './sql-database.ts'
import {
  notExpiredCondition,
  notifyWorkAfter,
  openTaskCondition,
  prolongedExpirySql,
  type SqlStore,
} from './sql-store.ts'
import { hashEntryName, objectFromColumn, rowColumns, taskRowOf, textToColumn } from './task-rows.ts'

/** Reads an owner's task, by its primary key. */
export async function readTask(
  { database, tables }: SqlStore,
  id: string,
  owner: string,
): Promise<TaskRow | undefined> {
  const sql = `SELECT ${rowColumns} FROM ${tables.task} WHERE id = $1 AND owner = $2 AND ${notExpiredCondition}`
  const [row] = await database.query(sql, [toStoredText(id), toStoredText(owner)])
  return row && taskRowOf(row)
}

/**
 * Stores answers in a transaction that locks the task, so that several answers to one task come one after the other.
 */
export async function answerTask(store: SqlStore, answers: TaskAnswers): Promise<TaskAnswerOutcome> {
  const { database, tables } = store
  const id = toStoredText(answers.id)
  const transaction = database.transaction<TaskAnswerOutcome>(async (query) => {
    const lockQuery = `SELECT requests FROM ${tables.task} WHERE id = $1 AND owner = $2 AND ${notExpiredCondition} FOR UPDATE`
    const [row] = await query(lockQuery, [id, toStoredText(answers.owner)])
    if (row === undefined) return 'unknown'
    const openRequests = new Map(Object.entries(objectFromColumn(row['requests'])))
    const openResponses = Object.entries(answers.responses).filter(([key]) => openRequests.delete(key))
    if (openResponses.length === 0) return 'ignored'
    await storeTaskAnswers(store, query, { ...answers, id, openRequests, openResponses })
    if (openRequests.size > 0) return 'stored'
    return 'resumed'
  })
  return notifyWorkAfter(store, transaction, (outcome) => outcome === 'resumed')
}

async function storeTaskAnswers(
  { tables }: SqlStore,
  query: Query,
  answers: TaskAnswers & {
    readonly openRequests: ReadonlyMap<string, JsonObject[string]>
    readonly openResponses: readonly (readonly [string, JsonObject[string]])[]
  },
): Promise<void> {
  const { id, openRequests, openResponses } = answers
  const entryNames = openResponses.map(([key]) => hashEntryName(key))
  const entries = openResponses.map(([key, response]) => JSON.stringify({ key, response }))
  const [status, lifetimeMs] = openRequests.size > 0 ? ['input_required', 0] : ['working', answers.lifetimeMs]
  // If a key is already answered, its first answer stays.
  await query(
    `WITH kept AS (
      INSERT INTO ${tables.answer} (task_id, name, entry)
      SELECT $1, name, entry FROM unnest($2::text[], $3::text[]) AS given (name, entry)
      ON CONFLICT DO NOTHING
    )
    UPDATE ${tables.task} SET requests = $4, status = $5::text, expires_at = ${prolongedExpirySql('$6')}, updated_at = statement_timestamp(),
      due_at = CASE WHEN $5::text = 'working' THEN statement_timestamp() END
    WHERE id = $1`,
    [id, entryNames, entries, JSON.stringify(Object.fromEntries(openRequests)), status, lifetimeMs],
  )
}

/**
 * Cancels a task: at once, or through its worker if it is claimed. Without `owner`, the task may belong to any owner.
 */
export async function cancelTask(store: SqlStore, id: string, owner: string | undefined): Promise<CancelOutcome> {
  const { database, tables, notifyCancel } = store
  const key = toStoredText(id)
  const outcome = await database.transaction<CancelOutcome>(async (query) => {
    const [row] = await query(
      `SELECT ${openTaskCondition} AS open, leased AND due_at > statement_timestamp() AS claimed
      FROM ${tables.task} WHERE id = $1 AND ($2::text IS NULL OR owner = $2::text) AND ${notExpiredCondition} FOR UPDATE`,
      [key, textToColumn(owner)],
    )
    if (row === undefined) return 'unknown'
    if (row['open'] !== true) return 'finished'
    if (row['claimed'] === true) {
      await query(`UPDATE ${tables.task} SET cancelling = true WHERE id = $1`, [key])
      return 'notified'
    }
    const endParameters = createFinishTaskValues({ outcome: { status: 'cancelled' }, lifetimeMs: 0 })
    await query(createFinishTaskSql(store, 'id = $1', ['$2', '$3', '$4', '$5', '$6']), [key, ...endParameters])
    return 'cancelled'
  })
  if (outcome === 'notified') notifyCancel(id)
  return outcome
}
