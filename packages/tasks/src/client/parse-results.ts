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

/** A server's parsed result, or where and why it is wrong. */
export type ParsedResult<T> = { readonly value: T } | { readonly issue: string }

/** Maximum characters of a task id: each request about the task has it in a header. */
export const maxIdLength = 1024

/** Parses a call's result that names a task (seps/2663-tasks-extension, task creation). */
export function parseCreatedTask(result: JsonObject): ParsedResult<CreateTaskResult> {
  const parsedResult = parseWithShape(createTaskResult, result)
  if ('issue' in parsedResult || isTaskId(parsedResult.value.taskId)) return parsedResult
  return { issue: `taskId: expected a text of 1 to ${maxIdLength} characters` }
}

/** Parses what `tasks/get` returns, which must be about the requested task. */
export function parseTaskState(result: JsonObject, taskId: string): ParsedResult<GetTaskResult> {
  return requireSameTaskId(taskId, parseWithShape(getTaskResult, result))
}

/** Parses `notifications/tasks`, which must be about the given task. */
export function parseTaskNotification(params: JsonObject | undefined, taskId: string): ParsedResult<DetailedTask> {
  return requireSameTaskId(taskId, parseWithShape(detailedTask, params))
}

/** Parses what `tasks/update` or `tasks/cancel` returns. */
export function parseAcknowledgement(result: JsonObject): ParsedResult<object> {
  return parseWithShape(taskAcknowledgement, result)
}

// UTF-8 cannot encode a lone surrogate, so neither a message nor a header can have one.
const loneSurrogatePattern = /\p{Cs}/u

export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxIdLength && !loneSurrogatePattern.test(value)
}

function requireSameTaskId<T extends DetailedTask>(taskId: string, parsedResult: ParsedResult<T>): ParsedResult<T> {
  if ('issue' in parsedResult || parsedResult.value.taskId === taskId) return parsedResult
  return { issue: 'taskId: it is not the id of the requested task' }
}

function parseWithShape<T>(shape: Shape<T>, value: unknown): ParsedResult<T> {
  const failure = checkOf(shape)(value)
  // The shape's check has accepted the value, so it has this type.
  if (failure === undefined) return { value: value as T }
  return { issue: `${failure.path.replace(/^\./, '') || 'result'}: expected ${failure.expected}, got ${failure.got}` }
}
