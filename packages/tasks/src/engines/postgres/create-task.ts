import type { NewTask, TaskRow } from '../engine.ts'
import type { SqlRow } from './sql-database.ts'
import { timeFromNowSql, type SqlStore } from './sql-store.ts'
import { rowColumns, toStoredText, toTaskRow } from './task-rows.ts'

/** Makes a task's row and its job in one statement. */
export async function createTask(store: SqlStore, task: NewTask): Promise<TaskRow | 'full'> {
  const createdRow = (await insertTaskWithSharedLock(store, task)) ?? (await insertTask(store, task, false))
  if (createdRow === undefined) return 'full'
  store.notifyWork()
  return toTaskRow(createdRow)
}

/** A limit below this has hardly ever room for all connections: it is not tried. */
const minSharedLockCallerLimit = 200

async function insertTaskWithSharedLock(store: SqlStore, task: NewTask): Promise<SqlRow | undefined> {
  return task.callerLimit < minSharedLockCallerLimit ? undefined : insertTask(store, task, true)
}

/** `has_room` locks and counts. The row and its job are written in the same statement. */
async function insertTask(
  { database, queue, tables }: SqlStore,
  task: NewTask,
  isLockShared: boolean,
): Promise<SqlRow | undefined> {
  const [row] = await database.query(
    `WITH room AS MATERIALIZED (
      SELECT ${tables.hasRoomFunction}($2, $6, $8) AS has_room
    ), created AS (
      INSERT INTO ${tables.task} (id, caller, owner, payload, status_message, expires_at, fixed_lifetime)
      SELECT $1::text, $2::text, $7::text, $3::text, $4::text, ${timeFromNowSql('$5')}, $9::boolean FROM room WHERE has_room
      ON CONFLICT (id) DO NOTHING RETURNING *
    ), queued AS (
      ${queue.createInsertSql('SELECT id, 0 FROM created')}
    )
    SELECT has_room, ${rowColumns} FROM room LEFT JOIN created ON true`,
    [
      toStoredText(task.id),
      toStoredText(task.caller),
      JSON.stringify(task.payload),
      storedStatusMessage(task),
      task.lifetimeMs,
      task.callerLimit,
      toStoredText(task.owner),
      isLockShared,
      task.hasFixedLifetime === true,
    ],
  )
  if (row?.['has_room'] !== true) return undefined
  if (row['id'] !== null) return row
  throw new Error(`There is a task ${JSON.stringify(task.id)} already: make another id`)
}

function storedStatusMessage({ statusMessage }: NewTask): string | null {
  return statusMessage === undefined ? null : toStoredText(statusMessage)
}
