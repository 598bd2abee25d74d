import {
  type CallOptions,
  type ClientExtensionHost,
  ClientError,
  type ExtensionCallOptions,
  isClientError,
} from '@x/client'
import { errorCodes, type InputResponses, type JsonObject } from '@x/schema'
import { relatedTaskKey, tasksCapability } from '../schema/task-params.ts'
import type { GetTaskResult } from '../schema/task.ts'
import { type ParsedResult, parseAcknowledgement, parseTaskState } from './parse-results.ts'
import { TaskError } from './task-error.ts'

/** The id of a task, and the tool that the task runs. */
export interface TaskReference {
  readonly taskId: string
  readonly tool: string
}

/** A request about a task. */
export interface TaskCall extends TaskReference {
  readonly host: ClientExtensionHost
  /** The settings of the extension that these requests use. */
  readonly settings: { readonly persistentWorkflow: object | undefined }
  readonly options: CallOptions
}

/**
 * Requests the state of a task (seps/2663-tasks-extension, task polling). Rejects with {@link TaskError} `expired`, or
 * with `ClientError`.
 */
export async function getTask(call: TaskCall): Promise<GetTaskResult> {
  const { taskId } = call
  const state = await sendTaskRequest('tasks/get', { taskId }, call)
  return requireValidResult(call, parseTaskState(await withPayload(state, call), taskId))
}

/**
 * Adds to a state the member that its status requires, if it is missing: the requests for input, the result or the
 * error. A server of the persistent workflow returns this member only from `tasks/result` (SEP-2322, persistent tool
 * workflow). A state of the published extension already contains it.
 */
async function withPayload(receivedState: JsonObject, call: TaskCall): Promise<JsonObject> {
  const state = renameLegacyMembers(receivedState)
  const { status } = state
  const member = typeof status === 'string' ? payloadMembers.get(status) : undefined
  if (member === undefined || state[member] !== undefined) return state
  try {
    const payload = await sendTaskRequest('tasks/result', { taskId: call.taskId }, withRelatedTask(call))
    return { ...state, [member]: member === 'inputRequests' ? (payload[member] ?? {}) : payload }
  } catch (error) {
    return withFailure(state, member, error)
  }
}

/** Returns a failed task's state with the error that `tasks/result` responded with. Throws any other failure. */
function withFailure(state: JsonObject, member: string, failure: unknown): JsonObject {
  const rpc = isClientError(failure) ? failure.rpc : undefined
  // The server does not support the workflow. Its state is invalid, which the parser of the state reports.
  if (rpc?.code === errorCodes.methodNotFound) return state
  if (member !== 'error' || rpc === undefined) throw failure
  const { code, message, data } = rpc
  return { ...state, error: { code, message, ...(data !== undefined && { data }) } }
}

/** Renames the members `ttl` and `pollInterval` of the earlier draft to their names in the published extension. */
export function renameLegacyMembers({ ttl, pollInterval, ...state }: JsonObject): JsonObject {
  return {
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }),
    ...state,
  }
}

/** For each status, the member that only states in this status have. */
const payloadMembers: ReadonlyMap<string, 'inputRequests' | 'result' | 'error'> = new Map([
  ['input_required', 'inputRequests'],
  ['completed', 'result'],
  ['failed', 'error'],
] as const)

function withRelatedTask(call: TaskCall): TaskCall {
  const { options, taskId } = call
  return { ...call, options: { ...options, meta: { ...options.meta, [relatedTaskKey]: { taskId } } } }
}

/**
 * Sends responses to a task's requests for input (seps/2663-tasks-extension, task update requests). Uses the method of
 * the persistent workflow (SEP-2322) if that option is set, or if the server does not know `tasks/update`.
 */
export async function updateTask(call: TaskCall, responses: InputResponses): Promise<void> {
  // Responses are JSON, but their readonly types are not assignable to `JsonObject`.
  const inputResponses = responses as unknown as JsonObject
  const params = { taskId: call.taskId, inputResponses }
  const sendInputResponse = () => sendTaskRequest('tasks/input_response', params, withRelatedTask(call))
  const acknowledgement = call.settings.persistentWorkflow
    ? sendInputResponse()
    : sendTaskRequest('tasks/update', params, call).catch((error: unknown) => {
        if (!isClientError(error) || error.rpc?.code !== errorCodes.methodNotFound) throw error
        return sendInputResponse()
      })
  requireValidResult(call, parseAcknowledgement(await acknowledgement))
}

/** Requests the server to cancel a task (seps/2663-tasks-extension, task cancellation). */
export async function requestCancel(call: TaskCall): Promise<void> {
  requireValidResult(call, parseAcknowledgement(await sendTaskRequest('tasks/cancel', { taskId: call.taskId }, call)))
}

/**
 * Returns the options of a request about a task. They contain no handlers and listeners, because those belong to the
 * call that became the task.
 */
export function toTaskRequestOptions({ signal, timeoutMs, meta }: CallOptions): ExtensionCallOptions {
  return { signal, timeoutMs, meta, capabilities: tasksCapability, targetParam: 'taskId', repeatable: true }
}

/** The methods whose error `invalidParams` does not mean that the server does not know the task. */
const methodsKeepingParamsErrors: ReadonlySet<string> = new Set([
  'tasks/update',
  'tasks/input_response',
  'tasks/result',
])

async function sendTaskRequest(
  method: string,
  params: JsonObject,
  { host, options, tool }: TaskCall,
): Promise<JsonObject> {
  try {
    // A result without a type is complete (basic/index, result type).
    return { resultType: 'complete', ...(await host.request(method, params, toTaskRequestOptions(options))) }
  } catch (error) {
    if (!isClientError(error) || error.rpc?.code !== errorCodes.invalidParams || methodsKeepingParamsErrors.has(method))
      throw error
    const message = `The server does not know the task of ${JSON.stringify(tool)}: it has expired, or is not this user's`
    throw new TaskError('expired', message, { tool, cause: error })
  }
}

function requireValidResult<T>({ host, tool }: TaskCall, parsedResult: ParsedResult<T>): T {
  if ('value' in parsedResult) return parsedResult.value
  throw new ClientError('invalid_result', `the response about the task is not valid at ${parsedResult.issue}`, {
    ...taskErrorContextOf(host, tool),
  })
}

/** Returns the method, the tool and the server of a task's call, for errors. */
export function taskErrorContextOf(
  { server, url }: ClientExtensionHost,
  tool: string,
): { method: string; target: string; server: string | undefined } {
  const serverLabels = [server && `${server.name} ${server.version}`, url && `(${url})`].filter(Boolean)
  return { method: 'tools/call', target: tool, server: serverLabels.join(' ') || undefined }
}
