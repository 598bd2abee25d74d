import {
  type CallOptions,
  type CallOutcome,
  type Client,
  ClientError,
  type ClientExtension,
  type ClientExtensionHost,
  type ClientExtensionInstance,
  type Progress,
  type SendCall,
} from '@x/client'
import { type CallToolResult, isJsonObject, type JsonObject } from '@x/schema'
import { tasksCapability, tasksExtension } from '../schema/task-params.ts'
import type { CreateTaskResult } from '../schema/task.ts'
import { createTaskHandle } from './create-task-handle.ts'
import { type OpenTask, openTask } from './open-task.ts'
import { parseCreatedTask } from './parse-results.ts'
import { parseSerializedTask } from './serialized-task.ts'
import { type TasksClientOptions, type TasksClientSettings, resolveTasksSettings } from './settings.ts'
import { taskErrorContextOf, renameLegacyMembers } from './task-requests.ts'
import type { TaskHandle } from './task-handle.ts'
import { awaitTaskResult, cancelAbandonedTask } from './task-result.ts'

/** How a started call turned out: the server decides whether it becomes a task. */
export type StartedCall =
  | { readonly status: 'task'; readonly task: TaskHandle }
  | { readonly status: 'complete'; readonly result: CallToolResult }

/** What a client has as `client.tasks`. */
export interface TasksClient {
  /**
   * Calls a tool, and returns the task if the call becomes one, or else the result. `client.callTool`, in contrast,
   * waits for the task's result.
   */
  start(name: string, args?: JsonObject, options?: CallOptions): Promise<StartedCall>
  /**
   * Resumes a serialized task of this process or another. Throws `TaskError` if the task belongs to another server or
   * user.
   */
  resume(serializedTask: unknown): TaskHandle
}

/**
 * Lets calls of tools become tasks (seps/2663-tasks-extension). With this extension, calls of tools declare it, and
 * `client.callTool` follows a task until it has a result. Throws `RangeError` for an invalid number of milliseconds.
 *
 * @example
 * const client = createClient(connection, { name: 'host', version: '1.0.0', extensions: [tasksClient()] })
 * const { content } = await client.callTool('import_everything')
 */
export function tasksClient(options: TasksClientOptions = {}): ClientExtension<'tasks', TasksClient> {
  // For an invalid number, throw here, and not only when a client is created.
  resolveTasksSettings(options, { url: undefined })
  return {
    extends: 'client',
    name: 'tasks',
    identifier: tasksExtension,
    // Single requests declare the capability, and not the client as a whole: a request that declares it must accept a
    // task as its result, which calls by `manualRounds` do not.
    start: (host) => startTaskClient(options, host),
  }
}

/**
 * Finds `tasks` on a client whose type does not show its extensions, such as that of a session. Throws `TypeError` if
 * there is none.
 */
export function tasksOf(client: Client): TasksClient {
  // A program without types may pass nothing.
  const tasksMember: unknown = Reflect.get(Object(client), 'tasks')
  if (isTasksClient(tasksMember)) return tasksMember
  throw new TypeError('The client has no tasks: give createClient `extensions: [tasksClient()]` of @x/tasks/client')
}

function isTasksClient(value: unknown): value is TasksClient {
  if (typeof value !== 'object' || value === null) return false
  return 'start' in value && 'resume' in value
}

function startTaskClient(
  clientOptions: TasksClientOptions,
  host: ClientExtensionHost,
): ClientExtensionInstance<TasksClient> {
  const context = { host, settings: resolveTasksSettings(clientOptions, host) }
  // `wrapCall` replaces this by its `next`, which also handles the result types of the extensions after this one.
  let sendCall = host.sendCall
  return {
    api: {
      start: async (name, args = {}, options = {}) => {
        const outcome = await beginTaskCall({ ...context, sendCall }, name, args, options)
        if (outcome.resultType === 'other') throw outcome.error
        // The cast is safe: the call is one of a tool.
        if (outcome.resultType === 'complete') return { status: 'complete', result: outcome.result as CallToolResult }
        return { status: 'task', task: await cancelOnFailure(outcome.task, options, () => announceTask(outcome.task)) }
      },
      resume: (serializedTask) =>
        createTaskHandle(openTask({ ...parseSerializedTask(serializedTask, context.settings), ...context })),
    },
    ...(context.settings.persistentWorkflow && { middleware: persistentWorkflow(context.settings.persistentWorkflow) }),
    wrapCall: (next) => {
      sendCall = next
      return async (call) => {
        // No other request may be answered with a task (seps/2663-tasks-extension, supported methods).
        if (call.method !== 'tools/call') return next(call)
        const { params, options } = call
        const args = isJsonObject(params['arguments']) ? params['arguments'] : {}
        const name = String(params['name'])
        const outcome = await beginTaskCall({ ...context, sendCall: next }, name, args, options)
        if (outcome.resultType !== 'task') return outcome
        const result = await cancelOnFailure(outcome.task, options, async () => {
          await announceTask(outcome.task)
          return awaitTaskResult(outcome.task, options)
        })
        return { resultType: 'complete', result }
      }
    },
  }
}

/**
 * Speaks the form of SEP-2322 (persistent tool workflow): adds `task` to calls of tools, and moves the task from the
 * member `task` of the response to its top level.
 */
function persistentWorkflow({
  ttlMs,
}: NonNullable<TasksClientSettings['persistentWorkflow']>): NonNullable<ClientExtensionInstance['middleware']> {
  return (next) => async (request, call) => {
    if (request.method !== 'tools/call') return next(request, call)
    const task = ttlMs === undefined ? {} : { ttl: ttlMs }
    const response = await next({ ...request, params: { ...request.params, task } }, call)
    if ('error' in response || !isJsonObject(response.result['task'])) return response
    const { task: createdTask, ...result } = response.result
    return { ...response, result: { ...result, ...renameLegacyMembers(createdTask), resultType: 'task' } }
  }
}

async function beginTaskCall(
  { sendCall, host, settings }: Pick<OpenTask, 'host' | 'settings'> & { readonly sendCall: SendCall },
  name: string,
  args: JsonObject,
  options: CallOptions,
): Promise<CallOutcome | { readonly resultType: 'task'; readonly task: OpenTask }> {
  const progressState = { progress: 0 }
  const outcome = await sendCall({
    method: 'tools/call',
    params: { name, arguments: args },
    options: withTaskCapability(options, progressState),
  })
  if (outcome.resultType === 'complete' || outcome.result['resultType'] !== 'task') return outcome
  const createdTask = requireCreatedTask(outcome.result, host, name)
  const { progress } = progressState
  const { taskId } = createdTask
  return {
    resultType: 'task',
    task: openTask({ taskId, tool: name, answeredKeys: [], initialState: createdTask, progress, host, settings }),
  }
}

function withTaskCapability(options: CallOptions, progressState: { progress: number }): CallOptions {
  const { onProgress, capabilities = {} } = options
  const extensions = { ...capabilities.extensions, ...tasksCapability.extensions }
  const reportProgress = ({ progress, ...progressDetails }: Progress): void => {
    progressState.progress = Math.max(progressState.progress, progress)
    onProgress?.({ progress, ...progressDetails })
  }
  return {
    ...options,
    capabilities: { ...capabilities, extensions },
    ...(onProgress && { onProgress: reportProgress }),
  }
}

function requireCreatedTask(result: JsonObject, host: ClientExtensionHost, name: string): CreateTaskResult {
  const parsedTask = parseCreatedTask(result)
  if ('value' in parsedTask) return parsedTask.value
  throw new ClientError(
    'invalid_result',
    `the task is not valid at ${parsedTask.issue}`,
    taskErrorContextOf(host, name),
  )
}

/** Resolves with the task's handle, once `onTask` had it. */
async function announceTask(task: OpenTask): Promise<TaskHandle> {
  const handle = createTaskHandle(task)
  await task.settings.onTask?.(handle)
  return handle
}

/**
 * If the call of a new task fails here and `onAbort` is `cancel`, the server is asked to cancel the task, because the
 * caller may have no handle of it.
 */
async function cancelOnFailure<T>(task: OpenTask, options: CallOptions, finishCall: () => Promise<T>): Promise<T> {
  try {
    return await finishCall()
  } catch (error) {
    if (task.settings.onAbort === 'cancel' && !task.isFinished) await cancelAbandonedTask(task, options)
    throw error
  }
}
