import {
  errorCodes,
  isJsonObject,
  type JsonObject,
  McpError,
  methods,
  type RequestMetaObject,
  requestMetaOf,
} from '@x/schema'
import type { TaskRequestParams, UpdateTaskRequestParams } from './task.ts'

/**
 * Client and server declare the extension under this identifier in their capabilities (seps/2663-tasks-extension,
 * extension identifier).
 */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** Declared by each request that may become a task, and by each request about a task. */
export const tasksCapability = { extensions: { [tasksExtension]: {} } } as const

/** Names a message's task in `_meta`, in the persistent workflow of SEP-2322. */
export const relatedTaskKey = 'io.modelcontextprotocol/related-task'

/**
 * Parses the params of `tasks/get` and `tasks/cancel`. Throws `McpError(invalidParams)`, which names the wrong member.
 */
export function parseTaskRequestParams(params: JsonObject | undefined): TaskRequestParams {
  const _meta = requestMetaOf(params)
  return { _meta, taskId: requireString(params?.['taskId'], 'taskId') }
}

/**
 * Parses the params of `tasks/update`. Throws `McpError(invalidParams)` that names the wrong member. Answers themselves
 * are left unchecked: `checkResponses` checks those to open requests, and all others are ignored.
 */
export function parseUpdateTaskRequestParams(params: JsonObject | undefined): UpdateTaskRequestParams {
  return { ...parseTaskRequestParams(params), inputResponses: requireInputResponses(params) }
}

/**
 * Checks that each answer is the result of an elicitation, of sampling or of `roots/list`. Throws
 * `McpError(invalidParams)` that names the wrong member.
 */
export function checkResponses(inputResponses: JsonObject, _meta: RequestMetaObject): void {
  // `resources/read` also has the member `inputResponses`, so the parser of its params checks it.
  methods['resources/read'].params({ uri: '', _meta, inputResponses })
}

/**
 * Finds the task id of `tasks/result` and `tasks/input_response`: in `taskId`, or in `_meta` as the request's related
 * task (seeds/sep-2322, persistent workflow). Throws `McpError(invalidParams)`.
 */
export function parseRelatedTaskParams(params: JsonObject | undefined): TaskRequestParams {
  const _meta = requestMetaOf(params)
  const relatedTask = Object.hasOwn(_meta, relatedTaskKey) ? _meta[relatedTaskKey] : undefined
  const taskId = params?.['taskId'] ?? (isJsonObject(relatedTask) ? relatedTask['taskId'] : undefined)
  return { _meta, taskId: requireString(taskId, `taskId (or params._meta["${relatedTaskKey}"].taskId)`) }
}

/** Parses the params of `tasks/input_response`. Throws `McpError(invalidParams)`. */
export function parseInputResponseParams(params: JsonObject | undefined): UpdateTaskRequestParams {
  return { ...parseRelatedTaskParams(params), inputResponses: requireInputResponses(params) }
}

function requireInputResponses(params: JsonObject | undefined): JsonObject {
  const { inputResponses } = params ?? {}
  if (isJsonObject(inputResponses)) return inputResponses
  throw paramsError(`inputResponses must be an object of answers, got ${typeName(inputResponses)}`)
}

function typeName(value: unknown): string {
  return value === undefined ? 'nothing' : Array.isArray(value) ? 'an array' : typeof value
}

function requireString(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw paramsError(`${name} must be a string, got ${typeName(value)}`)
}

function paramsError(problem: string): McpError {
  return new McpError(errorCodes.invalidParams, `params.${problem}`)
}
