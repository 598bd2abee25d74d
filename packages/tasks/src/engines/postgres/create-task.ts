import type { NewTask, TaskRow } from '../engine.ts'
import { fromNow, isAlive, isOpen, type SqlStore } from './sql-store.ts'
import { storedText } from './stored-text.ts'
import { rowColumns, taskRow } from './task-rows.ts'

/** Makes a task's row and its job in one transaction. */
export async function createTask(store: SqlStore, task: NewTask): Promise<TaskRow | 'full'> {
  const { database, queue, tables, wake } = store
  const id = storedText(task.id)
  const owner = storedText(task.owner)
  const made = await database.transaction(async (query) => {
    // Of those who make a task of one owner at the same time each has to count what the one before it has made.
    await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 1))', [`${tables.schema} ${owner}`])
    const [row] = await query(
      `INSERT INTO ${tables.task} (id, owner, payload, status_message, expires_at)
      SELECT $1::text, $2::text, $3::text, $4::text, ${fromNow('$5')}
      WHERE (SELECT count(*) FROM (SELECT FROM ${tables.task} WHERE owner = $2 AND ${isOpen} AND ${isAlive} LIMIT $6::bigint) AS open)
        < $6::bigint
      RETURNING ${rowColumns}`,
      [id, owner, JSON.stringify(task.payload), messageOf(task), task.lifeMs, task.ownerLimit],
    )
    if (row !== undefined) await queue.send(query, id)
    return row
  })
  if (made === undefined) return 'full'
  wake()
  return taskRow(made)
}

function messageOf({ statusMessage }: NewTask): string | null {
  return statusMessage === undefined ? null : storedText(statusMessage)
}
