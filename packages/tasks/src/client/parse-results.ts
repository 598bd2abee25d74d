import type { JsonObject } from '@x/schema'
import { checkOf, type Shape } from '@x/schema/shapes'
import {
  type CreateTaskResult,
  createTaskResult,
  type DetailedTask,
  detailedTask,
  type GetTaskResult,
  getTaskResult,
  taskAcknowledgement,
} from '../schema/task.ts'

/** The parsed answer of a server, or the place and the reason for which it is invalid. */
export type ParsedResult<T> = { readonly value: T } | { readonly issue: string }

/** The characters that the id of a task may have: each request about the task has it in a header. */
export const maxIdLength = 1024

/** Reads the result of a call that becomes a task (seps/2663-tasks-extension, task creation). */
export function parseCreatedTask(result: JsonObject): ParsedResult<CreateTaskResult> {
  const parsedResult = parseWithShape(createTaskResult, result)
  if ('issue' in parsedResult || isTaskId(parsedResult.value.taskId)) return parsedResult
  return { issue: `taskId: expected a text of 1 to ${maxIdLength} characters` }
}

/** Reads the result of `tasks/get`, which must be about the requested task. */
export function parseTaskState(result: JsonObject, taskId: string): ParsedResult<GetTaskResult> {
  return requireSameTaskId(taskId, parseWithShape(getTaskResult, result))
}

/** Reads the params of `notifications/tasks`. */
export function parseTaskNotification(params: JsonObject | undefined, taskId: string): ParsedResult<DetailedTask> {
  return requireSameTaskId(taskId, parseWithShape(detailedTask, params))
}

/** Reads the result of `tasks/update` and `tasks/cancel`. */
export function parseAcknowledgement(result: JsonObject): ParsedResult<object> {
  return parseWithShape(taskAcknowledgement, result)
}

// UTF-8 cannot encode a lone surrogate, so that neither a message nor a header can have one.
const loneSurrogatePattern = /\p{Cs}/u

/** Returns true if a value can be the id of a task. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxIdLength && !loneSurrogatePattern.test(value)
}

function requireSameTaskId<T extends DetailedTask>(taskId: string, parsedResult: ParsedResult<T>): ParsedResult<T> {
  if ('issue' in parsedResult || parsedResult.value.taskId === taskId) return parsedResult
  return { issue: 'taskId: it is another task than the one that was asked for' }
}

function parseWithShape<T>(shape: Shape<T>, value: unknown): ParsedResult<T> {
  const failure = checkOf(shape)(value)
  // The check of this type has accepted the value.
  if (failure === undefined) return { value: value as T }
  return { issue: `${failure.path.replace(/^\./, '') || 'result'}: expected ${failure.expected}, got ${failure.got}` }
}
