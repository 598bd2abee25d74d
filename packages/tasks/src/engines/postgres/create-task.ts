import type { NewTask, TaskRow } from '../engine.ts'
import { toStoredText } from '../stored-values.ts'
import type { SqlRow } from './sql-database.ts'
import { notifyWorkAfter, timeFromNowSql, type SqlStore } from './sql-store.ts'
import { textToColumn, rowColumns, taskRowOf } from './task-rows.ts'

/** Inserts a task under a shared lock or, if that finds no room, under an exclusive one. `full` if there is no room. */
export async function insertNewTask(store: SqlStore, task: NewTask): Promise<TaskRow | 'full'> {
  const insertShared = async () =>
    task.callerLimit < minSharedLockCallerLimit ? undefined : insertTask(store, task, true)
  const insert = async () => (await insertShared()) ?? insertTask(store, task, false)
  const createdRow = await notifyWorkAfter(store, insert(), (row) => row !== undefined)
  return createdRow === undefined ? 'full' : taskRowOf(createdRow)
}

/**
 * Below this `callerLimit` the shared lock is not tried. It requires room for as many tasks as there can be
 * connections, which a lower limit rarely has.
 */
const minSharedLockCallerLimit = 200

/** Inserts the row if `has_room` returns true, in one statement. Undefined if there is no room. */
async function insertTask(
  { database, tables }: SqlStore,
  task: NewTask,
  isLockShared: boolean,
): Promise<SqlRow | undefined> {
  const [row] = await database.query(
    `WITH room AS MATERIALIZED (
      SELECT ${tables.hasRoomFunction}($2, $6, $8) AS has_room
    ), created AS (
      INSERT INTO ${tables.task} (id, caller, owner, payload, status_message, expires_at, fixed_lifetime, tool, due_at)
      SELECT $1::text, $2::text, $7::text, $3::text, $4::text, ${timeFromNowSql('$5')}, $9::boolean, $10::text,
        statement_timestamp() FROM room WHERE has_room
      ON CONFLICT (id) DO NOTHING RETURNING *
    )
    SELECT has_room, ${rowColumns} FROM room LEFT JOIN created ON true`,
    [
      toStoredText(task.id),
      toStoredText(task.caller),
      JSON.stringify(task.payload),
      textToColumn(task.statusMessage),
      task.lifetimeMs,
      task.callerLimit,
      toStoredText(task.owner),
      isLockShared,
      task.hasFixedLifetime === true,
      toStoredText(task.tool),
    ],
  )
  if (row?.['has_room'] !== true) return undefined
  if (row['id'] !== null) return row
  throw new Error(`The task ${JSON.stringify(task.id)} exists already: create another id`)
}
