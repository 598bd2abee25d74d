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

/** The status of a task. `completed`, `cancelled` and `failed` are final (seps/2663-tasks-extension, task status). */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled' | 'failed'

/** The members of a task in every status (seps/2663-tasks-extension, tasks). */
export type Task = {
  readonly taskId: string
  readonly status: TaskStatus
  /** A description of the task's state, for people and models. */
  readonly statusMessage?: string | undefined
  /** The time of the task's creation, in ISO 8601. */
  readonly createdAt: string
  /** The time of the task's last change, in ISO 8601. */
  readonly lastUpdatedAt: string
  /**
   * Milliseconds from `createdAt` after which the task may be deleted. Null if it is never deleted. The number may
   * change.
   */
  readonly ttlMs: number | null
  /** Milliseconds to leave between two polls. The number may change. */
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
  /** The requests that the client has not answered, by key. A task uses each key once. */
  readonly inputRequests: InputRequests
}

/** A task that ended with a result, which may have `isError`. */
export type CompletedTask = Task & {
  readonly status: 'completed'
  /** The result of the request, as it would have been without a task. */
  readonly result: JsonObject
}

/** The error of a {@link FailedTask}. Without a task, it would have been the response to the request. */
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

/** The shape of {@link DetailedTask}, as in `notifications/tasks`. */
export const detailedTask: Shape<DetailedTask> = unionByMember<DetailedTask, 'status'>('status', {
  working: shape<WorkingTask>(workingMembers),
  input_required: shape<InputRequiredTask>(inputRequiredMembers),
  completed: shape<CompletedTask>(completedMembers),
  failed: shape<FailedTask>(failedMembers),
  cancelled: shape<CancelledTask>(cancelledMembers),
})

/** The result of a request that became a task (seps/2663-tasks-extension, task creation). */
export type CreateTaskResult = Task & { readonly _meta?: ResultMetaObject | undefined; readonly resultType: 'task' }

/** The shape of {@link CreateTaskResult}. */
export const createTaskResult: Shape<CreateTaskResult> = shape({
  ...taskMembers,
  _meta: optional(resultMetaObject),
  resultType: literal('task'),
  status: literal('working', 'input_required', 'completed', 'cancelled', 'failed'),
})

const completeMembers = { _meta: optional(resultMetaObject), resultType: literal('complete') }

/** The state of a task (seps/2663-tasks-extension, task polling). */
export type GetTaskResult = DetailedTask & {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: 'complete'
}

/** The shape of {@link GetTaskResult}. */
export const getTaskResult: Shape<GetTaskResult> = unionByMember<GetTaskResult, 'status'>('status', {
  working: shape({ ...completeMembers, ...workingMembers }),
  input_required: shape({ ...completeMembers, ...inputRequiredMembers }),
  completed: shape({ ...completeMembers, ...completedMembers }),
  failed: shape({ ...completeMembers, ...failedMembers }),
  cancelled: shape({ ...completeMembers, ...cancelledMembers }),
})

/** The result of `tasks/update` and `tasks/cancel`. It contains no state of the task. */
export type TaskAcknowledgement = { readonly _meta?: ResultMetaObject | undefined; readonly resultType: 'complete' }

/** The shape of {@link TaskAcknowledgement}. */
export const taskAcknowledgement: Shape<TaskAcknowledgement> = shape(completeMembers)

/** The params of requests about one task: `tasks/get` and `tasks/cancel`. */
export type TaskRequestParams = {
  readonly _meta: RequestMetaObject
  readonly taskId: string
}

/** The params of `tasks/update` (seps/2663-tasks-extension, task update requests). */
export type UpdateTaskRequestParams = TaskRequestParams & {
  /**
   * The answers to some or all of `inputRequests`, by the same keys. Each is an `InputResponse`. Other keys are
   * ignored.
   */
  readonly inputResponses: JsonObject
}

/** The params of `notifications/tasks`: the task as `tasks/get` would return it. */
export type TaskNotificationParams = DetailedTask & {
  readonly _meta?: { readonly [key: string]: JsonValue } | undefined
}
