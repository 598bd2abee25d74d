/**
 * For operators: list, count and cancel the tasks of a store, from command lines and monitoring.
 *
 * @module @x/tasks/admin
 */

import { checkArgument, createLog, errorRecord } from '@x/core'
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

/** A {@link TaskAdmin} that owns its store, so you must close it. */
export interface StoreAdmin extends TaskAdmin {
  /** Closes the store, even if you gave it as an engine. */
  close(): Promise<void>
}

/**
 * Opens a store for operators: by its address, as in the option `store` of `tasks`, or as an engine. Throws
 * `RangeError` for an address with another scheme.
 *
 * @example
 * const admin = taskAdmin('postgres://localhost/app')
 * for (const { tool, state, count } of await admin.counts()) console.log(tool, state, count)
 * await admin.close()
 */
export function taskAdmin(store: string | TaskEngine): StoreAdmin {
  if (typeof store !== 'string')
    checkArgument(store, { where: 'taskAdmin', takes: 'a URL or an engine', needs: ['close'] })
  const log = createLog(undefined, '@x/tasks')
  const engine = typeof store === 'string' ? engineFactoryFor(store)(log) : store
  const onError = (error: unknown): void => log(errorRecord(error, { name: 'tasks' }))
  const onChange = (id: string): void => void engine.notifications?.publish({ topic: `task:${id}` }).catch(onError)
  return { ...createTaskAdmin(engine, { onChange }), close: () => engine.close() }
}
