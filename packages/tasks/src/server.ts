/**
 * Tasks of a server, as an extension.
 *
 * @module @x/tasks/server
 */

export { tasks, type TasksApi } from './server/tasks.ts'
export type { TaskOptions } from './server/options.ts'
