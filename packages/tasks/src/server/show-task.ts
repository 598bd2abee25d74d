import type { InputRequests } from '@x/schema'
import type { TaskRow } from '../engines/engine.ts'
import type { DetailedTask, Task } from '../schema/task.ts'
import type { TaskSettings } from './options.ts'

/** A task as its client sees it: `tasks/get` and `notifications/tasks` show the same. */
export function showTask(row: TaskRow, settings: Pick<TaskSettings, 'pollIntervalMs'>): DetailedTask {
  const task = plainTask(row, settings)
  if (row.status === 'input_required') {
    // They are what a server asked, which the engine kept as it was.
    return { ...task, status: row.status, inputRequests: row.requests as unknown as InputRequests }
  }
  if (row.status === 'completed') return { ...task, status: row.status, result: row.result ?? {} }
  if (row.status === 'failed') return { ...task, status: row.status, error: row.error ?? lostError }
  return { ...task, status: row.status }
}

/** Returns the members of a task that it has in every status. */
export function plainTask(row: TaskRow, { pollIntervalMs }: Pick<TaskSettings, 'pollIntervalMs'>): Task {
  const { id, status, statusMessage, createdAt, updatedAt, ttlMs } = row
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  }
}

const lostError = { code: -32603, message: 'Internal error' }
