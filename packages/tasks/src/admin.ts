/**
 * The operator's view of the tasks of a store, for command lines and monitoring.
 *
 * @module @x/tasks/admin
 */

import { createLog, errorRecord } from '@x/core'
import type { TaskEngine } from './engines/engine.ts'
import { engineFactoryFor } from './engines/engine-factory.ts'
import { createTaskAdmin, type TaskAdmin } from './server/task-admin.ts'

export type {
  CancelOutcome,
  InspectedTask,
  OpenTaskState,
  RevokeOutcome,
  TaskCount,
  TaskFilter,
  TaskPage,
  TaskSummary,
} from './engines/engine.ts'
export type { TaskAdmin, TaskQuery } from './server/task-admin.ts'

/** A {@link TaskAdmin} with a store of its own. */
export interface StoreAdmin extends TaskAdmin {
  /** Closes the store, also an engine that was given. */
  close(): Promise<void>
}

/**
 * Opens the operator's view of a store, by the address that the option `store` of `tasks` takes, or of an engine.
 * Throws `RangeError` for another address.
 *
 * @example
 * const admin = taskAdmin('postgres://localhost/app')
 * for (const { tool, state, count } of await admin.counts()) console.log(tool, state, count)
 * await admin.close()
 */
export function taskAdmin(store: string | TaskEngine): StoreAdmin {
  const log = createLog(undefined, '@x/tasks')
  const engine = typeof store === 'string' ? engineFactoryFor(store)(log) : store
  const onError = (error: unknown): void => log(errorRecord(error, { name: 'tasks' }))
  const notifyChange = (id: string): void => void engine.notifications?.publish({ topic: `task:${id}` }).catch(onError)
  return { ...createTaskAdmin(engine, notifyChange), close: () => engine.close() }
}
