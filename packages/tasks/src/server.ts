/**
 * Runs calls of tools as tasks, as an extension of the server.
 *
 * @module @x/tasks/server
 */

export { tasks, type TasksApi } from './server/tasks.ts'
export type { TaskOptions } from './server/options.ts'
export type { RunOptions, RunOutcome, TaskRunner } from './server/task-runner.ts'
