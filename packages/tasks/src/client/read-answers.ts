import type { JsonObject } from '@x/schema'
import { issueOf, type Validator } from '@x/schema/zod'
import type { CreateTaskResult, DetailedTask, GetTaskResult } from '../schema/task.ts'
import { createTaskResult, detailedTask, getTaskResult, taskAcknowledgement } from '../schema/task.zod.ts'

/** The parsed answer of a server, or the place and the reason for which it is invalid. */
export type ParsedResult<T> = { readonly value: T } | { readonly issue: string }

/** The longest id of a task that a client takes: it goes into a header of each request about it. */
export const longestId = 1024

/** Reads the result of a call that goes on as a task (seps/2663-tasks-extension, task creation). */
export function readCreated(result: JsonObject): ParsedResult<CreateTaskResult> {
  const read = checkWith<CreateTaskResult>(createTaskResult, result)
  if ('issue' in read || isTaskId(read.value.taskId)) return read
  return { issue: `taskId: expected a text of 1 to ${longestId} characters` }
}

/** Reads the result of `tasks/get`, which must be about the task that was asked for. */
export function readState(result: JsonObject, taskId: string): ParsedResult<GetTaskResult> {
  return describeAnswer(taskId, checkWith<GetTaskResult>(getTaskResult, result))
}

/** Reads the params of `notifications/tasks`. */
export function readNotification(params: JsonObject | undefined, taskId: string): ParsedResult<DetailedTask> {
  return describeAnswer(taskId, checkWith<DetailedTask>(detailedTask, params))
}

/** Reads the result of `tasks/update` and `tasks/cancel`. */
export function readAcknowledgement(result: JsonObject): ParsedResult<object> {
  return checkWith<object>(taskAcknowledgement, result)
}

// UTF-8 cannot carry it, and so neither a message nor a header.
const halfPair = /\p{Cs}/u

/** Returns true if a value can be the id of a task. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestId && !halfPair.test(value)
}

function describeAnswer<T extends DetailedTask>(taskId: string, read: ParsedResult<T>): ParsedResult<T> {
  if ('issue' in read || read.value.taskId === taskId) return read
  return { issue: 'taskId: it is another task than the one that was asked for' }
}

function checkWith<T>(validator: Validator, value: unknown): ParsedResult<T> {
  const issue = issueOf(validator, value)
  // The validator of this very type has accepted it; the original is kept, because a copy would lose some members.
  if (issue === undefined) return { value: value as T }
  return { issue: `${issue.path.slice(0, 200) || 'result'}: ${issue.message}` }
}
