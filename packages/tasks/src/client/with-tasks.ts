import { type CallOptions, type Client, ClientError, otherResultOf, type Progress } from '@x/client'
import type { CallToolResult, JsonObject } from '@x/schema'
import { tasksCapability } from '../schema/extension.ts'
import type { CreateTaskResult } from '../schema/task.ts'
import { holdTask } from './hold-task.ts'
import { takeUp } from './kept-task.ts'
import { readCreated } from './read-answers.ts'
import { type TasksClientOptions, type TasksClientSettings, tasksSettings } from './settings.ts'
import { type OpenTask, openTask } from './open-task.ts'
import { cancelTask, placeOf } from './task-calls.ts'
import type { TaskHandle } from './task-handle.ts'
import { taskResult } from './task-result.ts'

/** What a call takes that may go on as a task. */
export interface TaskCallOptions extends CallOptions {
  /** Told when the call goes on as a task, and waited for; goes before the client's `onTask`. */
  readonly onTask?: TasksClientOptions['onTask']
}

/** What came of a call: the server decides whether it goes on as a task. */
export type StartedCall =
  | { readonly status: 'task'; readonly task: TaskHandle }
  | { readonly status: 'complete'; readonly result: CallToolResult }

/** The calls of a client that has tasks. */
export interface TaskCalls {
  /** Calls a tool, and follows the task if it becomes one, to the result (seps/2663-tasks-extension). */
  callTool(name: string, args?: JsonObject, options?: TaskCallOptions): Promise<CallToolResult>
  /** Calls a tool, and leaves the task to the caller if it becomes one. */
  startTask(name: string, args?: JsonObject, options?: TaskCallOptions): Promise<StartedCall>
  /** Takes up a task that was kept, in this process or another. Throws `TaskFailure` for one that is not this client's to follow. */
  resumeTask(kept: unknown): TaskHandle
}

/**
 * A client whose calls of tools may go on as tasks (seps/2663-tasks-extension): it declares the extension with each, and everything else
 * of it is as the client's, which stays as it is. Throws `RangeError` for a number that makes no sense.
 *
 * @example
 * const client = withTasks(createClient(connection, { name: 'host', version: '1.0.0' }))
 * const { content } = await client.callTool('import_everything')
 */
export function withTasks<C extends Client>(client: C, options: TasksClientOptions = {}): C & TaskCalls {
  const settings = tasksSettings(options, client.parts.url)
  const context = { client, settings }
  const calls: TaskCalls = {
    callTool: async (name, args = {}, how = {}) => {
      const begun = await begin(context, { name, args, how })
      return 'result' in begun ? begun.result : finish(begun.task, how)
    },
    startTask: async (name, args = {}, how = {}) => {
      const begun = await begin(context, { name, args, how })
      if ('result' in begun) return { status: 'complete', result: begun.result }
      const task = holdTask(begun.task)
      await tellOf(task, how, settings)
      return { status: 'task', task }
    },
    resumeTask: (kept) => holdTask(openTask({ ...takeUp(kept, settings), ...context })),
  }
  return joined(client, calls)
}

interface TasksContext {
  readonly client: Client
  readonly settings: TasksClientSettings
}

interface Beginning {
  readonly name: string
  readonly args: JsonObject
  readonly how: TaskCallOptions
}

type Begun = { readonly result: CallToolResult } | { readonly task: OpenTask }

/** Calls the tool, through its rounds, to its result or the task that it becomes. */
async function begin(context: TasksContext, { name, args, how }: Beginning): Promise<Begun> {
  const { client } = context
  const seen = { progress: 0 }
  try {
    return { result: await client.callTool(name, args, declaring(how, seen)) }
  } catch (error) {
    const created = createdBy(error, client, name)
    if (created === undefined) throw error
    const { progress } = seen
    return { task: openTask({ taskId: created.taskId, tool: name, answered: [], seed: created, progress, ...context }) }
  }
}

/** The options of a call that may become a task; notes in `seen` how far its progress has come. */
function declaring({ onTask: _, ...how }: TaskCallOptions, seen: { progress: number }): CallOptions {
  const { onProgress, capabilities = {} } = how
  const extensions = { ...capabilities.extensions, ...tasksCapability.extensions }
  const noting = ({ progress, ...more }: Progress): void => {
    seen.progress = Math.max(seen.progress, progress)
    onProgress?.({ progress, ...more })
  }
  return { ...how, capabilities: { ...capabilities, extensions }, ...(onProgress && { onProgress: noting }) }
}

/**
 * The task that a call was answered with, checked. A list that the client reads for the call may not be answered with one
 * (seps/2663-tasks-extension, capability negotiation).
 */
function createdBy(error: unknown, client: Client, name: string): CreateTaskResult | undefined {
  const result = otherResultOf(error)
  if (result?.['resultType'] !== 'task' || !(error instanceof ClientError) || error.method !== 'tools/call')
    return undefined
  const read = readCreated(result)
  if ('value' in read) return read.value
  throw new ClientError('invalid_result', `the task is not valid at ${read.issue}`, placeOf(client, name))
}

/** Follows a task that perhaps nobody else has the handle of, and does not leave it behind when that fails. */
async function finish(task: OpenTask, how: TaskCallOptions): Promise<CallToolResult> {
  try {
    await tellOf(holdTask(task), how, task.settings)
    return await taskResult(task, how)
  } catch (error) {
    if (task.settings.cancelsAbandoned && !task.isOver) abandon(task, how)
    throw error
  }
}

/** Asks for the end of a task, which nobody waits for: the call has ended, and a task that is not cancelled expires. */
function abandon(task: OpenTask, { meta, timeoutMs, maxTotalMs }: CallOptions): void {
  cancelTask({ ...task, how: { meta, timeoutMs, maxTotalMs } }).catch(() => {})
}

async function tellOf(task: TaskHandle, { onTask }: TaskCallOptions, settings: TasksClientSettings): Promise<void> {
  await (onTask ?? settings.onTask)?.(task)
}

/** A client with other members in the place of its own; what else is looked up, it has as it is at that moment. */
function joined<C extends Client, M extends object>(client: C, members: M): C & M {
  const all = { ...Object.getOwnPropertyDescriptors(client), ...Object.getOwnPropertyDescriptors(members) }
  const both: unknown = Object.defineProperties({}, all)
  // It has the members of both, getters included, which the types of descriptors do not say.
  return both as C & M
}
