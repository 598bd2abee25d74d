export { createTaskResult, detailedTask, getTaskResult, taskAcknowledgement } from './schema/task.zod.ts'
