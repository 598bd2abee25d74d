import { errorCodes, isJsonObject, type JsonObject, McpError, methods, requestMeta } from '@x/schema'
import { relatedTaskKey } from './extension.ts'
import type { TaskRequestParams, UpdateTaskRequestParams } from './task.ts'

/** Params of `tasks/get` and `tasks/cancel`. Throws `McpError(invalidParams)` that names what is wrong. */
export function taskRequestParams(params: JsonObject | undefined): TaskRequestParams {
  const _meta = requestMeta(params)
  return { _meta, taskId: stringOf(params?.['taskId'], 'taskId') }
}

/** Params of `tasks/update`. Throws `McpError(invalidParams)` that names what is wrong. */
export function updateTaskRequestParams(params: JsonObject | undefined): UpdateTaskRequestParams {
  return { ...taskRequestParams(params), inputResponses: responsesOf(params) }
}

/**
 * Params of `tasks/result`, and of `tasks/input_response` but for its answers: the task stands in `taskId`, or in `_meta` as the
 * request's related task (seeds/sep-2322, persistent workflow). Throws `McpError(invalidParams)`.
 */
export function relatedTaskParams(params: JsonObject | undefined): TaskRequestParams {
  const _meta = requestMeta(params)
  const related = Object.hasOwn(_meta, relatedTaskKey) ? _meta[relatedTaskKey] : undefined
  const taskId = params?.['taskId'] ?? (isJsonObject(related) ? related['taskId'] : undefined)
  return { _meta, taskId: stringOf(taskId, `taskId (or params._meta["${relatedTaskKey}"].taskId)`) }
}

/** Params of `tasks/input_response`. Throws `McpError(invalidParams)`. */
export function inputResponseParams(params: JsonObject | undefined): UpdateTaskRequestParams {
  return { ...relatedTaskParams(params), inputResponses: responsesOf(params) }
}

function responsesOf(params: JsonObject | undefined): UpdateTaskRequestParams['inputResponses'] {
  const { _meta, inputResponses } = params ?? {}
  if (inputResponses === undefined) throw refusal('inputResponses must be an object of answers, got nothing')
  // The check of a request that brings answers, which tells where one is not of the three kinds.
  const checked = methods['resources/read'].params({ uri: '', _meta, inputResponses })
  return checked.inputResponses ?? {}
}

function stringOf(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw refusal(`${name} must be a string, got ${value === undefined ? 'nothing' : typeof value}`)
}

function refusal(what: string): McpError {
  return new McpError(errorCodes.invalidParams, `params.${what}`)
}
