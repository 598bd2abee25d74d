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

/** The parsed result of a server, or a text with the place and the reason of its problem. */
export type ParsedResult<T> = { readonly value: T } | { readonly issue: string }

/**
 * The largest number of characters of a task id. It is limited because each request about the task has the id in a
 * header.
 */
export const maxIdLength = 1024

/** Parses the result of a call that became a task (seps/2663-tasks-extension, task creation). */
export function parseCreatedTask(result: JsonObject): ParsedResult<CreateTaskResult> {
  const parsedResult = parseWithShape(createTaskResult, result)
  if ('issue' in parsedResult || isTaskId(parsedResult.value.taskId)) return parsedResult
  return { issue: `taskId: expected a text of 1 to ${maxIdLength} characters` }
}

/** Parses the result of `tasks/get`, which must be about the requested task. */
export function parseTaskState(result: JsonObject, taskId: string): ParsedResult<GetTaskResult> {
  return requireSameTaskId(taskId, parseWithShape(getTaskResult, result))
}

/** Parses the params of `notifications/tasks`, which must be about the given task. */
export function parseTaskNotification(params: JsonObject | undefined, taskId: string): ParsedResult<DetailedTask> {
  return requireSameTaskId(taskId, parseWithShape(detailedTask, params))
}

/** Parses the result of `tasks/update` or `tasks/cancel`. */
export function parseAcknowledgement(result: JsonObject): ParsedResult<object> {
  return parseWithShape(taskAcknowledgement, result)
}

// UTF-8 cannot encode a lone surrogate, so neither a message nor a header can contain one.
const loneSurrogatePattern = /\p{Cs}/u

/** Returns true if a value can be the id of a task. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxIdLength && !loneSurrogatePattern.test(value)
}

function requireSameTaskId<T extends DetailedTask>(taskId: string, parsedResult: ParsedResult<T>): ParsedResult<T> {
  if ('issue' in parsedResult || parsedResult.value.taskId === taskId) return parsedResult
  return { issue: 'taskId: it is not the id of the requested task' }
}

function parseWithShape<T>(shape: Shape<T>, value: unknown): ParsedResult<T> {
  const failure = checkOf(shape)(value)
  // The check of the shape has accepted the value, so it has this type.
  if (failure === undefined) return { value: value as T }
  return { issue: `${failure.path.replace(/^\./, '') || 'result'}: expected ${failure.expected}, got ${failure.got}` }
}
