import {
  type Call,
  errorCodes,
  errorResponse,
  isMcpError,
  type JsonObject,
  McpError,
  requestMeta,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { TaskRow } from '../engines/engine.ts'
import * as params from '../schema/task-params.ts'
import type { UpdateTaskRequestParams } from '../schema/task.ts'
import { awaitNews } from './await-news.ts'
import { ownerOf } from './owner.ts'
import { matchTaskName, requireTasks, requireVersion, unknownTask } from './require-tasks.ts'
import { showTask } from './show-task.ts'
import { type TaskContext, withServerInfo } from './task-context.ts'

/** What serves one method of the extension. */
export type ServeTask = (given: JsonObject | undefined, call: Call, context: TaskContext) => Promise<JsonObject>

/** The methods of the extension, and those of the persistent workflow where it is switched on. */
export function taskMethods({ persistentWorkflow }: { readonly persistentWorkflow: boolean }): Map<string, ServeTask> {
  return new Map([...methods, ...(persistentWorkflow ? workflow : [])])
}

/** Answers a request about a task. The one place where errors of the extension become what the peer sees. */
export async function serveTask(serve: ServeTask, asked: Asked, context: TaskContext): Promise<RpcResponse> {
  const { request, call } = asked
  try {
    const meta = requestMeta(request.params)
    requireVersion(meta)
    requireTasks(meta)
    const result = await serve(request.params, call, context)
    return { jsonrpc: '2.0', id: request.id, result }
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason
    if (!isMcpError(error)) context.settings.onError(error)
    return errorResponse(request.id, error)
  }
}

/** A request and its call. */
export interface Asked {
  readonly request: RpcRequest
  readonly call: Call
}

/** A task of the caller; throws the same for one that is another's as for one that never was. */
async function findTask(taskId: string, { principal }: Call, { settings }: TaskContext): Promise<TaskRow> {
  const row = await settings.engine.get(taskId, ownerOf(principal))
  if (row === undefined) throw unknownTask(taskId)
  return row
}

const getTask: ServeTask = async (given, call, context) => {
  const { taskId } = params.taskRequestParams(given)
  matchTaskName(call, taskId)
  const row = await findTask(taskId, call, context)
  return withServerInfo({ resultType: 'complete', ...showTask(row, context.settings) }, context)
}

const updateTask: ServeTask = (given, call, context) => {
  const checked = params.updateTaskRequestParams(given)
  matchTaskName(call, checked.taskId)
  return bringAnswers(checked, call, context)
}

const cancelTask: ServeTask = async (given, call, context) => {
  const { taskId } = params.taskRequestParams(given)
  matchTaskName(call, taskId)
  const outcome = await context.settings.engine.cancel(taskId, ownerOf(call.principal))
  if (outcome === 'unknown') throw unknownTask(taskId)
  if (outcome === 'cancelled') context.watch.changed(taskId)
  return acknowledgement(context)
}

/** The result of a task as soon as there is one, or what it asks (seeds/sep-2322, persistent workflow). */
const taskResult: ServeTask = async (given, call, context) => {
  const { taskId } = params.relatedTaskParams(given)
  const row = await awaitNews(() => findTask(taskId, call, context), { id: taskId, call, context })
  if (row.status === 'completed') return row.result ?? {}
  if (row.status === 'input_required') {
    return withServerInfo({ resultType: 'input_required', inputRequests: row.requests }, context)
  }
  if (row.error === undefined) throw new McpError(errorCodes.invalidParams, 'The task was cancelled: it has no result')
  throw new McpError(row.error.code, row.error.message, {
    ...(row.error.data !== undefined && { data: row.error.data }),
  })
}

const inputResponse: ServeTask = (given, call, context) =>
  bringAnswers(params.inputResponseParams(given), call, context)

const methods: readonly (readonly [string, ServeTask])[] = [
  ['tasks/get', getTask],
  ['tasks/update', updateTask],
  ['tasks/cancel', cancelTask],
]

const workflow: readonly (readonly [string, ServeTask])[] = [
  ['tasks/result', taskResult],
  ['tasks/input_response', inputResponse],
]

async function bringAnswers(given: UpdateTaskRequestParams, call: Call, context: TaskContext): Promise<JsonObject> {
  const { taskId, inputResponses, _meta } = given
  const { engine, ttlMs: lifeMs } = context.settings
  const { requests } = await findTask(taskId, call, context)
  // What is not asked, or not any more, is ignored whatever it looks like (seps/2663-tasks-extension, task update requests).
  const responses = Object.fromEntries(Object.entries(inputResponses).filter(([key]) => Object.hasOwn(requests, key)))
  params.checkResponses(responses, _meta)
  const outcome = await engine.answer({ id: taskId, owner: ownerOf(call.principal), responses, lifeMs })
  if (outcome === 'unknown') throw unknownTask(taskId)
  if (outcome !== 'ignored') context.watch.changed(taskId)
  return acknowledgement(context)
}

function acknowledgement(context: TaskContext): JsonObject {
  return withServerInfo({ resultType: 'complete' }, context)
}
