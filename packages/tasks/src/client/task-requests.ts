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
import type { SerializedTask } from './serialized-task.ts'
import { TaskError } from './task-error.ts'

export interface TaskCall extends Pick<SerializedTask, 'taskId' | 'tool'> {
  readonly host: ClientExtensionHost
  readonly settings: { readonly persistentWorkflow: object | undefined }
  readonly options: CallOptions
}

/**
 * Asks for a task's state (seps/2663-tasks-extension, task polling). Rejects with {@link TaskError} `expired`, or with
 * `ClientError`.
 */
export async function getTask(call: TaskCall): Promise<GetTaskResult> {
  const { taskId } = call
  const state = await sendTaskRequest('tasks/get', { taskId }, call)
  return requireValidResult(call, parseTaskState(await withPayload(state, call), taskId))
}

/**
 * Adds the member that a state's status requires, if it is missing: the requests for input, the result or the error. In
 * the persistent workflow only `tasks/result` returns it (SEP-2322, persistent tool workflow); in the published
 * extension each state has it.
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

/** Makes a failed task's state of the error that `tasks/result` responded with. Throws any other failure. */
function withFailure(state: JsonObject, member: string, failure: unknown): JsonObject {
  const rpc = isClientError(failure) ? failure.rpc : undefined
  // This server does not know the workflow. Its state is invalid, and the parser of the state will say so.
  if (rpc?.code === errorCodes.methodNotFound) return state
  if (member !== 'error' || rpc === undefined) throw failure
  const { code, message, data } = rpc
  return { ...state, error: { code, message, ...(data !== undefined && { data }) } }
}

/** `ttl` and `pollInterval` are the names of an earlier draft. */
export function renameLegacyMembers({ ttl, pollInterval, ...state }: JsonObject): JsonObject {
  return {
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }),
    ...state,
  }
}

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
 * Answers a task's requests for input (seps/2663-tasks-extension, task update requests), by the method of the
 * persistent workflow (SEP-2322) if that option is set, or if the server does not know `tasks/update`.
 */
export async function updateTask(call: TaskCall, responses: InputResponses): Promise<void> {
  // Responses are JSON, but TypeScript does not assign their readonly types to `JsonObject`.
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

/** Asks the server to cancel a task (seps/2663-tasks-extension, task cancellation). */
export async function requestCancel(call: TaskCall): Promise<void> {
  requireValidResult(call, parseAcknowledgement(await sendTaskRequest('tasks/cancel', { taskId: call.taskId }, call)))
}

/** Leaves out handlers and listeners, because those belong to the call that became the task. */
export function toTaskRequestOptions({ signal, timeoutMs, meta }: CallOptions): ExtensionCallOptions {
  return { signal, timeoutMs, meta, capabilities: tasksCapability, targetParam: 'taskId', repeatable: true }
}

/** For these, `invalidParams` does not mean that the server does not know the task. */
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

/** Errors name the task's call, `tools/call`, and not the request about the task. */
export function taskErrorContextOf(
  { server, url }: ClientExtensionHost,
  tool: string,
): { method: string; target: string; server: string | undefined } {
  const serverLabels = [server && `${server.name} ${server.version}`, url && `(${url})`].filter(Boolean)
  return { method: 'tools/call', target: tool, server: serverLabels.join(' ') || undefined }
}
