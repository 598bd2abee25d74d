import type { NewTask, TaskRow } from '../engine.ts'
import type { SqlRow } from './sql-database.ts'
import { timeFromNowSql, aliveCondition, openCondition, type SqlStore } from './sql-store.ts'
import { toStoredText } from './stored-text.ts'
import { rowColumns, toTaskRow } from './task-rows.ts'

/** Makes a task's row and its job in one transaction. */
export async function createTask(store: SqlStore, task: NewTask): Promise<TaskRow | 'full'> {
  const createdRow = (await insertWithSharedLock(store, task)) ?? (await insertTask(store, task, exclusiveLock))
  if (createdRow === undefined) return 'full'
  store.notifyWork()
  return toTaskRow(createdRow)
}

/** The SQL that serializes concurrent creations for one caller. */
interface CreationLock {
  readonly lock: string
  /** Number of further tasks for which there must be room, as SQL. */
  readonly requiredRoomSql: string
}

// Each has to count what the one before it has made, and waits for it to be written.
const exclusiveLock: CreationLock = { lock: 'pg_advisory_xact_lock', requiredRoomSql: '0' }

// Together they cannot reach the limit while there is room for as many as there can be connections. Whoever is alone
// waits for all of them.
const sharedLock: CreationLock = {
  lock: 'pg_advisory_xact_lock_shared',
  requiredRoomSql: `current_setting('max_connections')::bigint`,
}

/** A limit below this has hardly ever room for all connections: it is not tried. */
const minSharedLimit = 200

async function insertWithSharedLock(store: SqlStore, task: NewTask): Promise<SqlRow | undefined> {
  return task.callerLimit < minSharedLimit ? undefined : insertTask(store, task, sharedLock)
}

function insertTask(
  { database, queue, tables }: SqlStore,
  task: NewTask,
  creationLock: CreationLock,
): Promise<SqlRow | undefined> {
  const id = toStoredText(task.id)
  const caller = toStoredText(task.caller)
  return database.transaction(async (query) => {
    await query(`SELECT ${creationLock.lock}(hashtextextended($1, 1))`, [`${tables.schema} ${caller}`])
    const [row] = await query(
      `INSERT INTO ${tables.task} (id, caller, owner, payload, status_message, expires_at)
      SELECT $1::text, $2::text, $7::text, $3::text, $4::text, ${timeFromNowSql('$5')}
      WHERE (SELECT count(*) FROM (SELECT FROM ${tables.task} WHERE caller = $2 AND ${openCondition} AND ${aliveCondition} LIMIT $6::bigint) AS open)
        < $6::bigint - ${creationLock.requiredRoomSql}
      RETURNING ${rowColumns}`,
      [
        id,
        caller,
        JSON.stringify(task.payload),
        storedStatusMessage(task),
        task.lifeMs,
        task.callerLimit,
        toStoredText(task.owner),
      ],
    )
    if (row !== undefined) await queue.send(query, id)
    return row
  })
}

function storedStatusMessage({ statusMessage }: NewTask): string | null {
  return statusMessage === undefined ? null : toStoredText(statusMessage)
}
