import { type InputRequests, type JsonObject, projectMetaKeys } from '@x/schema'
import type { TaskRow } from '../engines/engine.ts'
import type { CreateTaskResult, DetailedTask, Task } from '../schema/task.ts'
import type { TaskSettings } from './options.ts'

/** A stored task as its client sees it, in `tasks/get` and `notifications/tasks`. */
export function toDetailedTask(
  row: TaskRow,
  settings: Pick<TaskSettings, 'pollIntervalMs'>,
): DetailedTask & Pick<CreateTaskResult, '_meta'> {
  const task = toTask(row, settings)
  if (row.status === 'input_required') {
    // The worker stored `requests` as input requests, and the engine returns them unchanged.
    return { ...task, status: row.status, inputRequests: row.requests as unknown as InputRequests }
  }
  if (row.status === 'completed') return { ...task, status: row.status, result: row.result ?? {} }
  if (row.status === 'failed') return { ...task, status: row.status, error: row.error ?? internalError }
  return { ...task, status: row.status }
}

/** What a task has in every status, with its progress in `_meta`. */
export function toTask(
  row: TaskRow,
  settings: Pick<TaskSettings, 'pollIntervalMs'>,
): Task & Pick<CreateTaskResult, '_meta'> {
  const { id, status, statusMessage, progress, createdAt, updatedAt, ttlMs } = row
  return {
    taskId: id,
    status,
    // Of a cancelled task, clients take it for the reason, and it is a report of progress.
    ...(statusMessage !== undefined && status !== 'cancelled' && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs: pollIntervalMsOf(row, settings),
    ...(progress && { _meta: { [projectMetaKeys.progress]: progress } }),
  }
}

/** SEP-2322 has other names for the lifetime and the poll interval. */
export function legacyMembersOf({ ttlMs, pollIntervalMs }: Task): JsonObject {
  return { ttl: ttlMs, ...(pollIntervalMs !== undefined && { pollInterval: pollIntervalMs }) }
}

const firstPollMs = 50

/**
 * Milliseconds to the next poll: 50, 100, 200 and so on, up to the option `pollIntervalMs`. After the first 150 ms it
 * is at most a third of the task's age, so that a client notices the end of a short task soon, and polls a long one
 * rarely.
 */
function pollIntervalMsOf({ ageMs }: TaskRow, { pollIntervalMs }: Pick<TaskSettings, 'pollIntervalMs'>): number {
  const doublings = Math.floor(Math.log2(Math.max(ageMs / (3 * firstPollMs), 1)))
  return Math.min(firstPollMs * 2 ** doublings, pollIntervalMs)
}

const internalError = { code: -32603, message: 'Internal error' }
