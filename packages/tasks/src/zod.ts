/**
 * Validators of zod for the types of the tasks extension.
 *
 * @module @x/tasks/zod
 */

export { createTaskResult, detailedTask, getTaskResult, taskAcknowledgement } from './schema/task.zod.ts'
