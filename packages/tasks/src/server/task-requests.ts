import { isCancelled } from '@x/core'
import { type Call, type ExtensionMethod, unavailableError } from '@x/exchange'
import { errorCodes, isJsonObject, isMcpError, type JsonObject, McpError, requestMetaOf } from '@x/schema'
import type { TaskRow } from '../engines/engine.ts'
import * as params from '../schema/task-params.ts'
import type { UpdateTaskRequestParams } from '../schema/task.ts'
import { awaitTaskNotWorking } from './await-change.ts'
import { taskOwnerKeyOf } from './task-payload.ts'
import { checkTaskNameHeader, requireTasks, unknownTaskError } from './require-tasks.ts'
import { legacyMembersOf, toDetailedTask } from './to-detailed-task.ts'
import type { TaskContext } from './options.ts'

type TaskRequestHandler = (
  requestParams: JsonObject | undefined,
  call: Call,
  context: TaskContext,
) => Promise<JsonObject>

/** Methods of the extension, with those of the persistent workflow if that option is set. */
export function createTaskMethods(context: TaskContext): Readonly<Record<string, ExtensionMethod>> {
  const methodRows = [...taskMethodHandlers, ...(context.settings.persistentWorkflow ? workflowMethodHandlers : [])]
  return Object.fromEntries(methodRows.map(([name, handler]) => [name, createTaskMethod(handler, context)]))
}

function createTaskMethod(handler: TaskRequestHandler, context: TaskContext): ExtensionMethod {
  return async ({ params: requestParams }, call) => {
    // Clients of the persistent workflow do not declare the extension.
    if (!context.settings.persistentWorkflow) requireTasks(requestMetaOf(requestParams))
    return handler(requestParams, call, context).catch((error: unknown) => {
      if (isMcpError(error) || isCancelled(call)) throw error
      // May be retried: every request about a task can be repeated.
      context.settings.onError(error)
      throw unavailableError({ begun: false, cause: error })
    })
  }
}

/** Another owner's task throws the same error as one that does not exist. */
async function findTask(taskId: string, { principal }: Call, { settings }: TaskContext): Promise<TaskRow> {
  const row = await settings.engine.get(taskId, taskOwnerKeyOf(principal))
  if (row === undefined) throw unknownTaskError(taskId)
  return row
}

const serveGetTask: TaskRequestHandler = async (requestParams, call, context) => {
  const { taskId } = params.parseTaskRequestParams(requestParams)
  checkTaskNameHeader(call, taskId)
  const row = await findTask(taskId, call, context)
  const task = toDetailedTask(row, context.settings)
  if (!context.settings.persistentWorkflow) return { ...task }
  const workflowTask = { ...task, ...legacyMembersOf(task) }
  if (task.status !== 'input_required') return workflowTask
  return { statusMessage: 'The task needs input: tasks/result has its requests', ...workflowTask }
}

const serveUpdateTask: TaskRequestHandler = async (requestParams, call, context) => {
  const checkedParams = params.parseUpdateTaskRequestParams(requestParams)
  checkTaskNameHeader(call, checkedParams.taskId)
  return storeTaskResponses(checkedParams, call, context)
}

const serveCancelTask: TaskRequestHandler = async (requestParams, call, context) => {
  const { taskId } = params.parseTaskRequestParams(requestParams)
  checkTaskNameHeader(call, taskId)
  const outcome = await context.settings.engine.cancel(taskId, taskOwnerKeyOf(call.principal))
  if (outcome === 'unknown') throw unknownTaskError(taskId)
  if (outcome === 'cancelled') context.taskChanges.notifyChange(taskId)
  return {}
}

/** Waits until a task has a result or asks for input (seeds/sep-2322, persistent workflow). */
const serveTaskResult: TaskRequestHandler = async (requestParams, call, context) => {
  const { taskId } = params.parseRelatedTaskParams(requestParams)
  const row = await awaitTaskNotWorking(() => findTask(taskId, call, context), { id: taskId, call, context })
  const { status, requests } = row
  if (status === 'completed') return addRelatedTask(row.result ?? {}, taskId)
  if (status === 'input_required') {
    return addRelatedTask({ resultType: 'input_required', inputRequests: requests }, taskId)
  }
  if (row.error === undefined) throw new McpError(errorCodes.invalidParams, 'The task was cancelled: it has no result')
  throw new McpError(row.error.code, row.error.message, {
    ...(row.error.data !== undefined && { data: row.error.data }),
  })
}

const serveInputResponse: TaskRequestHandler = async (requestParams, call, context) => {
  const checkedParams = params.parseInputResponseParams(requestParams)
  return addRelatedTask(await storeTaskResponses(checkedParams, call, context), checkedParams.taskId)
}

/** SEP-2322, persistent tool workflow. */
function addRelatedTask(result: JsonObject, taskId: string): JsonObject {
  const { _meta } = result
  return { ...result, _meta: { ...(isJsonObject(_meta) && _meta), [params.relatedTaskKey]: { taskId } } }
}

const taskMethodHandlers: readonly (readonly [string, TaskRequestHandler])[] = [
  ['tasks/get', serveGetTask],
  ['tasks/update', serveUpdateTask],
  ['tasks/cancel', serveCancelTask],
]

const workflowMethodHandlers: readonly (readonly [string, TaskRequestHandler])[] = [
  ['tasks/result', serveTaskResult],
  ['tasks/input_response', serveInputResponse],
]

async function storeTaskResponses(
  requestParams: UpdateTaskRequestParams,
  call: Call,
  context: TaskContext,
): Promise<JsonObject> {
  const { taskId, inputResponses, _meta } = requestParams
  const { engine, ttlMs: lifetimeMs } = context.settings
  const { requests } = await findTask(taskId, call, context)
  // Responses whose keys are not open are ignored, even if their shape is wrong (seps/2663-tasks-extension, task update
  // requests).
  const responses = Object.fromEntries(Object.entries(inputResponses).filter(([key]) => Object.hasOwn(requests, key)))
  params.checkResponses(responses, _meta)
  const answers = { id: taskId, owner: taskOwnerKeyOf(call.principal), responses, lifetimeMs }
  const outcome = await context.writeHealth.watch(engine.answer(answers), (stored) => stored !== 'ignored')
  if (outcome === 'unknown') throw unknownTaskError(taskId)
  if (outcome !== 'ignored') context.taskChanges.notifyChange(taskId)
  if (outcome === 'resumed') await context.dispatch(taskId)
  return {}
}
