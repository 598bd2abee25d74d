import {
  type CallOptions,
  type ClientExtensionHost,
  ClientError,
  type ExtensionCallOptions,
  isClientError,
} from '@x/client'
import { errorCodes, type InputResponses, type JsonObject } from '@x/schema'
import { tasksCapability } from '../schema/extension.ts'
import type { GetTaskResult } from '../schema/task.ts'
import { type ParsedResult, readAcknowledgement, readState } from './read-answers.ts'
import { TaskError } from './task-error.ts'

/** A task that this client knows, and the tool that it runs. */
export interface KnownTask {
  readonly taskId: string
  readonly tool: string
}

/** A request about a task. */
export interface TaskCall extends KnownTask {
  readonly host: ClientExtensionHost
  readonly options: CallOptions
}

/** Reads the state of a task (seps/2663-tasks-extension, task polling). Rejects with {@link TaskError} `expired`, or `ClientError`. */
export async function getTask(call: TaskCall): Promise<GetTaskResult> {
  const { taskId } = call
  return valid(call, readState(await requestTask('tasks/get', { taskId }, call), taskId))
}

/** Sends responses to a task's requests (seps/2663-tasks-extension, task update requests). */
export async function updateTask(call: TaskCall, responses: InputResponses): Promise<void> {
  // Types of the protocol are JSON, which their readonly interfaces cannot say.
  const inputResponses = responses as unknown as JsonObject
  valid(call, readAcknowledgement(await requestTask('tasks/update', { taskId: call.taskId, inputResponses }, call)))
}

/** Asks for the end of a task (seps/2663-tasks-extension, task cancellation). */
export async function cancelTask(call: TaskCall): Promise<void> {
  valid(call, readAcknowledgement(await requestTask('tasks/cancel', { taskId: call.taskId }, call)))
}

/** Returns the options of a request about a task. Handlers and listeners of its call stay with that call. */
export function aboutTask({ signal, timeoutMs, maxTotalMs, meta }: CallOptions): ExtensionCallOptions {
  return { signal, timeoutMs, maxTotalMs, meta, capabilities: tasksCapability, named: 'taskId', repeatable: true }
}

async function requestTask(method: string, params: JsonObject, { host, options, tool }: TaskCall): Promise<JsonObject> {
  try {
    return await host.request(method, params, aboutTask(options))
  } catch (error) {
    if (!isClientError(error) || error.rpc?.code !== errorCodes.invalidParams || method === 'tasks/update') throw error
    const message = `The server does not know the task of ${JSON.stringify(tool)}: it has expired, or is not this user's`
    throw new TaskError('expired', message, { tool, cause: error })
  }
}

function valid<T>({ host, tool }: TaskCall, read: ParsedResult<T>): T {
  if ('value' in read) return read.value
  throw new ClientError('invalid_result', `what the server says of its task is not valid at ${read.issue}`, {
    ...requestContext(host, tool),
  })
}

/** Returns the place of a task's call, for errors. */
export function requestContext(
  { server, url }: ClientExtensionHost,
  tool: string,
): { method: string; target: string; server: string | undefined } {
  const words = [server && `${server.name} ${server.version}`, url && `(${url})`].filter(Boolean)
  return { method: 'tools/call', target: tool, server: words.join(' ') || undefined }
}
