import { isLimitError, isCancelled } from '@x/core'
import { type Call, callerKeyOf, type Exchange, limitErrorToMcp, withNotify } from '@x/exchange'
import {
  errorCodes,
  errorResponse,
  isJsonObject,
  isMcpError,
  type JsonObject,
  McpError,
  requestMetaOf,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { taskOwnerKeyOf } from './task-payload.ts'
import { requireTasks } from './require-tasks.ts'
import type { TaskContext } from './options.ts'
import { TaskStream } from './task-stream.ts'

const maxTaskIds = 1000

const acknowledgedMethod = 'notifications/subscriptions/acknowledged'

/**
 * Sends the state of tasks on the stream of `subscriptions/listen`, beside the server's own notifications: first the
 * current state, then every change. Its acknowledgement names the tasks that the caller owns, and no others
 * (seps/2663-tasks-extension, task status notifications). `next` serves the other parts of the request.
 */
export async function listenToTasks(
  request: RpcRequest,
  call: Call,
  context: TaskContext & { readonly next: Exchange },
): Promise<RpcResponse> {
  const requestedIds = requestedIdsOf(request.params)
  if (requestedIds === undefined) return context.next(request, call)
  const { settings, taskChanges, next } = context
  const stream = new TaskStream(request.id, call, context)
  const unfollowCallbacks: (() => void)[] = []
  try {
    const ids = parseTaskIds(requestedIds, request)
    // Tasks that the caller does not own count as well, because they are also followed.
    unfollowCallbacks.push(settings.ledger.take('topics', callerKeyOf(call), ids.length))
    // Followed before they are read, so that no change in between is missed.
    for (const id of ids) unfollowCallbacks.push(await taskChanges.follow(id, () => stream.notifyChange(id)))
    const ownedIds = await filterOwnedIds(ids, call, context)
    return await next(request, withNotify(call, notifyWithTaskIds(call, stream, ownedIds)))
  } catch (error) {
    if (isCancelled(call)) throw call.signal.reason
    if (isLimitError(error)) return errorResponse(request.id, limitErrorToMcp(error))
    if (!isMcpError(error)) settings.onError(error)
    return errorResponse(request.id, error)
  } finally {
    stream.close()
    for (const unfollow of unfollowCallbacks) unfollow()
  }
}

function requestedIdsOf(params: JsonObject | undefined): unknown {
  const notifications = params?.['notifications']
  return isJsonObject(notifications) ? notifications['taskIds'] : undefined
}

function parseTaskIds(requestedIds: unknown, { params }: RpcRequest): readonly string[] {
  if (!Array.isArray(requestedIds) || !requestedIds.every((id) => typeof id === 'string')) {
    throw new McpError(errorCodes.invalidParams, 'params.notifications.taskIds must be an array of strings')
  }
  requireTasks(requestMetaOf(params))
  if (requestedIds.length <= maxTaskIds) return [...new Set(requestedIds)]
  const message = `params.notifications.taskIds has ${requestedIds.length} tasks; give at most ${maxTaskIds}`
  throw new McpError(errorCodes.invalidParams, message)
}

async function filterOwnedIds(
  ids: readonly string[],
  { principal }: Call,
  { settings }: TaskContext,
): Promise<readonly string[]> {
  const owner = taskOwnerKeyOf(principal)
  const rows = await Promise.all(ids.map((id) => settings.engine.get(id, owner)))
  return ids.filter((_, index) => rows[index] !== undefined)
}

/** Forwards notifications, but adds `taskIds` to the acknowledgement, and then opens the task stream. */
function notifyWithTaskIds(call: Call, stream: TaskStream, knownTaskIds: readonly string[]): Call['notify'] {
  return (message) => {
    if (message.method !== acknowledgedMethod) return call.notify(message)
    call.notify(knownTaskIds.length === 0 ? message : withTaskIds(message, knownTaskIds))
    stream.open(knownTaskIds)
  }
}

function withTaskIds({ params = {}, ...message }: RpcNotification, taskIds: readonly string[]): RpcNotification {
  const { notifications } = params
  return {
    ...message,
    params: { ...params, notifications: { ...(isJsonObject(notifications) && notifications), taskIds } },
  }
}
