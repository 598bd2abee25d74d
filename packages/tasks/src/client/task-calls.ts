import { type CallOptions, type Client, ClientError, type ExtensionCallOptions, isClientError } from '@x/client'
import { errorCodes, type InputResponses, type JsonObject } from '@x/schema'
import { tasksCapability } from '../schema/extension.ts'
import type { GetTaskResult } from '../schema/task.ts'
import { type Read, readAcknowledgement, readState } from './read-answers.ts'
import { TaskFailure } from './task-failure.ts'

/** A task that this client knows of, and the tool that it runs. */
export interface KnownTask {
  readonly taskId: string
  readonly tool: string
}

/** Where a request about a task goes, and as what. */
export interface TaskCall extends KnownTask {
  readonly client: Client
  readonly how: CallOptions
}

/** How a task stands (seps/2663-tasks-extension, task polling). Rejects with {@link TaskFailure} `expired`, or `ClientError`. */
export async function getTask(call: TaskCall): Promise<GetTaskResult> {
  const { taskId } = call
  return valid(call, readState(await send('tasks/get', { taskId }, call), taskId))
}

/** Brings answers to a task (seps/2663-tasks-extension, task update requests). */
export async function updateTask(call: TaskCall, responses: InputResponses): Promise<void> {
  // Types of the protocol are JSON, which their readonly interfaces cannot say.
  const inputResponses = responses as unknown as JsonObject
  valid(call, readAcknowledgement(await send('tasks/update', { taskId: call.taskId, inputResponses }, call)))
}

/** Asks for the end of a task (seps/2663-tasks-extension, task cancellation). */
export async function cancelTask(call: TaskCall): Promise<void> {
  valid(call, readAcknowledgement(await send('tasks/cancel', { taskId: call.taskId }, call)))
}

/** The options of a request about a task. What answers and listens for its call stays with that call. */
export function aboutTask({ signal, timeoutMs, maxTotalMs, meta }: CallOptions): ExtensionCallOptions {
  return { signal, timeoutMs, maxTotalMs, meta, capabilities: tasksCapability, named: 'taskId' }
}

async function send(method: string, params: JsonObject, { client, how, tool }: TaskCall): Promise<JsonObject> {
  try {
    return await client.request(method, params, aboutTask(how))
  } catch (error) {
    if (!isClientError(error) || error.rpc?.code !== errorCodes.invalidParams || method === 'tasks/update') throw error
    const message = `The server does not know the task of ${JSON.stringify(tool)}: it has expired, or is not this user's`
    throw new TaskFailure('expired', message, { tool, cause: error })
  }
}

function valid<T>({ client, tool }: TaskCall, read: Read<T>): T {
  if ('value' in read) return read.value
  throw new ClientError('invalid_result', `what the server says of its task is not valid at ${read.issue}`, {
    ...placeOf(client, tool),
  })
}

/** Where the call of a task went, for errors. */
export function placeOf(client: Client, tool: string): { method: string; target: string; server: string | undefined } {
  const { server, parts } = client
  const words = [server && `${server.name} ${server.version}`, parts.url && `(${parts.url})`].filter(Boolean)
  return { method: 'tools/call', target: tool, server: words.join(' ') || undefined }
}
