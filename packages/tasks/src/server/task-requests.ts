import {
  type Call,
  errorCodes,
  type ExtensionMethod,
  isJsonObject,
  type JsonObject,
  McpError,
  requestMeta,
} from '@x/schema'
import type { TaskRow } from '../engines/engine.ts'
import { relatedTaskKey } from '../schema/extension.ts'
import * as params from '../schema/task-params.ts'
import type { UpdateTaskRequestParams } from '../schema/task.ts'
import { awaitChange } from './await-change.ts'
import { taskOwner } from './owner.ts'
import { matchTaskName, requireTasks, unknownTask } from './require-tasks.ts'
import { showTask } from './show-task.ts'
import type { TaskContext } from './task-context.ts'

type ServeTask = (given: JsonObject | undefined, call: Call, context: TaskContext) => Promise<JsonObject>

/** Returns the methods of the extension, and those of the persistent workflow where it is switched on. */
export function taskMethods(context: TaskContext): Readonly<Record<string, ExtensionMethod>> {
  const rows = [...methods, ...(context.settings.persistentWorkflow ? workflow : [])]
  return Object.fromEntries(rows.map(([name, serve]) => [name, taskMethod(serve, context)]))
}

function taskMethod(serve: ServeTask, context: TaskContext): ExtensionMethod {
  return ({ params: given }, call) => {
    // Clients of the persistent workflow know nothing of the extension.
    if (!context.settings.persistentWorkflow) requireTasks(requestMeta(given))
    return serve(given, call, context)
  }
}

/** Returns a task of the caller. Throws the same error for a task of another owner as for one that does not exist. */
async function findTask(taskId: string, { principal }: Call, { settings }: TaskContext): Promise<TaskRow> {
  const row = await settings.engine.get(taskId, taskOwner(principal))
  if (row === undefined) throw unknownTask(taskId)
  return row
}

const serveGetTask: ServeTask = async (given, call, context) => {
  const { taskId } = params.taskRequestParams(given)
  matchTaskName(call, taskId)
  const row = await findTask(taskId, call, context)
  const task = showTask(row, context.settings)
  if (!context.settings.persistentWorkflow || task.status !== 'input_required') return { ...task }
  return { statusMessage: 'The task needs input: tasks/result has its requests', ...task }
}

const serveUpdateTask: ServeTask = (given, call, context) => {
  const checked = params.updateTaskRequestParams(given)
  matchTaskName(call, checked.taskId)
  return storeTaskResponses(checked, call, context)
}

const serveCancelTask: ServeTask = async (given, call, context) => {
  const { taskId } = params.taskRequestParams(given)
  matchTaskName(call, taskId)
  const outcome = await context.settings.engine.cancel(taskId, taskOwner(call.principal))
  if (outcome === 'unknown') throw unknownTask(taskId)
  if (outcome === 'cancelled') context.watch.changed(taskId)
  return {}
}

/** Waits for the result of a task, or for its requests for input (seeds/sep-2322, persistent workflow). */
const serveTaskResult: ServeTask = async (given, call, context) => {
  const { taskId } = params.relatedTaskParams(given)
  const row = await awaitChange(() => findTask(taskId, call, context), { id: taskId, call, context })
  const { status, requests } = row
  if (status === 'completed') return withRelatedTask(row.result ?? {}, taskId)
  if (status === 'input_required') {
    return withRelatedTask({ resultType: 'input_required', inputRequests: requests }, taskId)
  }
  if (row.error === undefined) throw new McpError(errorCodes.invalidParams, 'The task was cancelled: it has no result')
  throw new McpError(row.error.code, row.error.message, {
    ...(row.error.data !== undefined && { data: row.error.data }),
  })
}

const inputResponse: ServeTask = async (given, call, context) => {
  const checked = params.inputResponseParams(given)
  return withRelatedTask(await storeTaskResponses(checked, call, context), checked.taskId)
}

/** Returns a result that names its task (SEP-2322, persistent tool workflow). */
function withRelatedTask(result: JsonObject, taskId: string): JsonObject {
  const { _meta } = result
  return { ...result, _meta: { ...(isJsonObject(_meta) && _meta), [relatedTaskKey]: { taskId } } }
}

const methods: readonly (readonly [string, ServeTask])[] = [
  ['tasks/get', serveGetTask],
  ['tasks/update', serveUpdateTask],
  ['tasks/cancel', serveCancelTask],
]

const workflow: readonly (readonly [string, ServeTask])[] = [
  ['tasks/result', serveTaskResult],
  ['tasks/input_response', inputResponse],
]

async function storeTaskResponses(
  given: UpdateTaskRequestParams,
  call: Call,
  context: TaskContext,
): Promise<JsonObject> {
  const { taskId, inputResponses, _meta } = given
  const { engine, ttlMs: lifeMs } = context.settings
  const { requests } = await findTask(taskId, call, context)
  // Responses to keys that are not open are ignored, whatever their shape (seps/2663-tasks-extension, task update requests).
  const responses = Object.fromEntries(Object.entries(inputResponses).filter(([key]) => Object.hasOwn(requests, key)))
  params.checkResponses(responses, _meta)
  const outcome = await engine.answer({ id: taskId, owner: taskOwner(call.principal), responses, lifeMs })
  if (outcome === 'unknown') throw unknownTask(taskId)
  if (outcome !== 'ignored') context.watch.changed(taskId)
  return {}
}
