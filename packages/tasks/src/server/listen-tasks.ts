import {
  type Call,
  errorCodes,
  errorResponse,
  isJsonObject,
  isMcpError,
  type JsonObject,
  McpError,
  requestMeta,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { ownerOf } from './owner.ts'
import { requireTasks } from './require-tasks.ts'
import type { TaskContext } from './task-context.ts'
import { createTaskStream, type TaskStream } from './task-stream.ts'

/** How many tasks one request may follow. */
const mostTasks = 1000

const acknowledgement = 'notifications/subscriptions/acknowledged'

/**
 * Sends the state of tasks on the stream of `subscriptions/listen`, beside what the server inside sends there: at first as it is,
 * and whenever it changes. What the server acknowledges names the tasks as well that are the caller's, and no others
 * (seps/2663-tasks-extension, task status notifications).
 */
export async function listenToTasks(request: RpcRequest, call: Call, context: TaskContext): Promise<RpcResponse> {
  const asked = askedIds(request.params)
  if (asked === undefined) return context.exchange(request, call)
  const { settings, watch, exchange } = context
  const stream = createTaskStream({ id: request.id, call, owner: ownerOf(call.principal), context })
  const stops: (() => void)[] = []
  try {
    const ids = admittedIds(asked, request)
    // Nothing that happens between the look and the stream may be missed.
    for (const id of ids) stops.push(await watch.follow(id, () => stream.changed(id)))
    const known = await ownIds(ids, call, context)
    return await exchange(request, { ...call, notify: noting({ call, stream, known }) })
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason
    if (!isMcpError(error)) settings.onError(error)
    return errorResponse(request.id, error)
  } finally {
    stream.close()
    for (const stop of stops) stop()
  }
}

function askedIds(params: JsonObject | undefined): unknown {
  const notifications = params?.['notifications']
  return isJsonObject(notifications) ? notifications['taskIds'] : undefined
}

function admittedIds(asked: unknown, { params }: RpcRequest): readonly string[] {
  if (!Array.isArray(asked) || !asked.every((id) => typeof id === 'string')) {
    throw new McpError(errorCodes.invalidParams, 'params.notifications.taskIds must be an array of strings')
  }
  requireTasks(requestMeta(params))
  if (asked.length <= mostTasks) return [...new Set(asked)]
  const message = `params.notifications.taskIds has ${asked.length} tasks; give at most ${mostTasks}`
  throw new McpError(errorCodes.invalidParams, message)
}

async function ownIds(
  ids: readonly string[],
  { principal }: Call,
  { settings }: TaskContext,
): Promise<readonly string[]> {
  const owner = ownerOf(principal)
  const rows = await Promise.all(ids.map((id) => settings.engine.get(id, owner)))
  return ids.filter((_, index) => rows[index] !== undefined)
}

interface Noting {
  readonly call: Call
  readonly stream: TaskStream
  readonly known: readonly string[]
}

/** Passes on what the server sends; the acknowledgement, which comes first, with the tasks that will be told of. */
function noting({ call, stream, known }: Noting): Call['notify'] {
  return (message) => {
    if (message.method !== acknowledgement) return call.notify(message)
    call.notify(known.length === 0 ? message : withIds(message, known))
    stream.open(known)
  }
}

function withIds({ params = {}, ...message }: RpcNotification, taskIds: readonly string[]): RpcNotification {
  const { notifications } = params
  return {
    ...message,
    params: { ...params, notifications: { ...(isJsonObject(notifications) && notifications), taskIds } },
  }
}
