/**
 * Lets calls of tools become tasks, as an extension of the client.
 *
 * @module @x/tasks/client
 */

export type { SerializedTask } from './client/serialized-task.ts'
export type { PollingOptions, TasksClientOptions } from './client/settings.ts'
export { isTaskError, TaskError, type TaskErrorCode } from './client/task-error.ts'
export type { TaskHandle } from './client/task-handle.ts'
export { type StartedCall, type TasksClient, tasksClient, tasksOf } from './client/tasks-client.ts'
