export { relatedTaskKey, tasksCapability, tasksExtension } from './schema/extension.ts'
export { taskRequestParams, updateTaskRequestParams } from './schema/task-params.ts'
export type {
  CancelledTask,
  CompletedTask,
  CreateTaskResult,
  DetailedTask,
  FailedTask,
  GetTaskResult,
  InputRequiredTask,
  Task,
  TaskAcknowledgement,
  TaskError,
  TaskNotificationParams,
  TaskRequestParams,
  TaskStatus,
  UpdateTaskRequestParams,
  WorkingTask,
} from './schema/task.ts'
export type {
  AnswerOutcome,
  CancelOutcome,
  ClaimedTask,
  EngineListener,
  Lease,
  LeaseState,
  NewTask,
  TaskAnswers,
  TaskEnd,
  TaskEngine,
  TaskProgress,
  TaskRow,
  TaskSuspension,
} from './engines/engine.ts'
