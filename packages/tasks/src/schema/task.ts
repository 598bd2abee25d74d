import type { InputRequests, JsonObject, JsonValue, RequestMetaObject, ResultMetaObject } from '@x/schema'
import {
  unionByMember,
  inputRequests,
  integer,
  integerOrNull,
  jsonObject,
  jsonValue,
  optional,
  resultMetaObject,
  type Shape,
  shape,
  string,
  literal,
} from '@x/schema/shapes'

/** Where a task is. `completed`, `cancelled` and `failed` are final (seps/2663-tasks-extension, task status). */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled' | 'failed'

/** What a task has in every status (seps/2663-tasks-extension, tasks). */
export type Task = {
  readonly taskId: string
  readonly status: TaskStatus
  /** Describes the state, for people and models. */
  readonly statusMessage?: string | undefined
  /** When the task was created, in ISO 8601. */
  readonly createdAt: string
  /** When the task last changed, in ISO 8601. */
  readonly lastUpdatedAt: string
  /** Milliseconds from `createdAt` after which the task may be deleted. Null if it never is. May change. */
  readonly ttlMs: number | null
  /** Milliseconds to leave between two polls. May change. */
  readonly pollIntervalMs?: number | undefined
}

const taskMembers = {
  taskId: string,
  statusMessage: optional(string),
  createdAt: string,
  lastUpdatedAt: string,
  ttlMs: integerOrNull,
  pollIntervalMs: optional(integer),
}

const workingMembers = { ...taskMembers, status: literal('working') }
const cancelledMembers = { ...taskMembers, status: literal('cancelled') }
const completedMembers = { ...taskMembers, status: literal('completed'), result: jsonObject }
const inputRequiredMembers = { ...taskMembers, status: literal('input_required'), inputRequests }

/** A task that a worker runs, or that waits for a worker. */
export type WorkingTask = Task & { readonly status: 'working' }

/** A task that waits for its client. */
export type InputRequiredTask = Task & {
  readonly status: 'input_required'
  /** Requests that the client has not answered, by key. A task uses each key once. */
  readonly inputRequests: InputRequests
}

/** A task that ended with a result, which may have `isError`. */
export type CompletedTask = Task & {
  readonly status: 'completed'
  /** What the request would have returned without a task. */
  readonly result: JsonObject
}

/** Error of a {@link FailedTask}. Without a task, it would have been the response to the request. */
export type FailedTaskError = {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue | undefined
}

const failedTaskError = shape<FailedTaskError>({ code: integer, message: string, data: optional(jsonValue) })
const failedMembers = { ...taskMembers, status: literal('failed'), error: failedTaskError }

/** A task that ended with a JSON-RPC error. */
export type FailedTask = Task & {
  readonly status: 'failed'
  readonly error: FailedTaskError
}

/** A task that was cancelled. */
export type CancelledTask = Task & { readonly status: 'cancelled' }

/** A task in any status, with the members that this status requires. */
export type DetailedTask = WorkingTask | InputRequiredTask | CompletedTask | FailedTask | CancelledTask

/** Shape of {@link DetailedTask}, as in `notifications/tasks`. */
export const detailedTask: Shape<DetailedTask> = unionByMember<DetailedTask, 'status'>('status', {
  working: shape<WorkingTask>(workingMembers),
  input_required: shape<InputRequiredTask>(inputRequiredMembers),
  completed: shape<CompletedTask>(completedMembers),
  failed: shape<FailedTask>(failedMembers),
  cancelled: shape<CancelledTask>(cancelledMembers),
})

/** What a request returns that became a task (seps/2663-tasks-extension, task creation). */
export type CreateTaskResult = Task & { readonly _meta?: ResultMetaObject | undefined; readonly resultType: 'task' }

/** Shape of {@link CreateTaskResult}. */
export const createTaskResult: Shape<CreateTaskResult> = shape({
  ...taskMembers,
  _meta: optional(resultMetaObject),
  resultType: literal('task'),
  status: literal('working', 'input_required', 'completed', 'cancelled', 'failed'),
})

const completeMembers = { _meta: optional(resultMetaObject), resultType: literal('complete') }

/** A task's state (seps/2663-tasks-extension, task polling). */
export type GetTaskResult = DetailedTask & {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: 'complete'
}

/** Shape of {@link GetTaskResult}. */
export const getTaskResult: Shape<GetTaskResult> = unionByMember<GetTaskResult, 'status'>('status', {
  working: shape({ ...completeMembers, ...workingMembers }),
  input_required: shape({ ...completeMembers, ...inputRequiredMembers }),
  completed: shape({ ...completeMembers, ...completedMembers }),
  failed: shape({ ...completeMembers, ...failedMembers }),
  cancelled: shape({ ...completeMembers, ...cancelledMembers }),
})

/** What `tasks/update` and `tasks/cancel` return, which says nothing about the task's state. */
export type TaskAcknowledgement = { readonly _meta?: ResultMetaObject | undefined; readonly resultType: 'complete' }

/** Shape of {@link TaskAcknowledgement}. */
export const taskAcknowledgement: Shape<TaskAcknowledgement> = shape(completeMembers)

/** Params of requests about one task: `tasks/get` and `tasks/cancel`. */
export type TaskRequestParams = {
  readonly _meta: RequestMetaObject
  readonly taskId: string
}

/** Params of `tasks/update` (seps/2663-tasks-extension, task update requests). */
export type UpdateTaskRequestParams = TaskRequestParams & {
  /**
   * Answers to some or all of `inputRequests`, by the same keys. Each is an `InputResponse`. Other keys are ignored.
   */
  readonly inputResponses: JsonObject
}

/** Params of `notifications/tasks`: the task as `tasks/get` would return it. */
export type TaskNotificationParams = DetailedTask & {
  readonly _meta?: { readonly [key: string]: JsonValue } | undefined
}
