/**
 * Types of the tasks extension that client and server share.
 *
 * @module @x/tasks
 */

export type { ChangeBus, Clock, Log, LogRecord } from '@x/core'
export {
  parseTaskRequestParams,
  parseUpdateTaskRequestParams,
  relatedTaskKey,
  tasksCapability,
  tasksExtension,
} from './schema/task-params.ts'
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
  FailedTaskError,
  TaskNotificationParams,
  TaskRequestParams,
  TaskStatus,
  UpdateTaskRequestParams,
  WorkingTask,
} from './schema/task.ts'
export type {
  TaskAnswerOutcome,
  CancelOutcome,
  ClaimedTask,
  ClaimRequest,
  ClaimResult,
  EngineListener,
  Lease,
  LeaseState,
  NewTask,
  TaskAnswers,
  TaskEnd,
  TaskEngine,
  ProgressNumbers,
  TaskProgress,
  TaskRelease,
  TaskRow,
  TaskSuspension,
} from './engines/engine.ts'
