import type { ServerResponse } from 'node:http'
import { type Middleware, type ServerExtension, withNotify } from '@x/exchange'
import { isJsonObject, type JsonObject, type RpcNotification, type RpcResponse } from '@x/schema'

/** The `_meta` key of the instance that produced a result. */
const instanceKey = 'dev.x/instance'
const headerName = 'x-instance'

/** An instance of the server. */
export interface Instance {
  readonly id: number
  /** The process id. */
  readonly pid: number
}

/** Creates middleware that adds the instance to the `_meta` of every result. */
export function signResults(instance: Instance): Middleware {
  const signature = { [instanceKey]: { ...instance } }
  return (next) => async (request, call) => {
    const response = await next(request, call)
    if (!('result' in response)) return response
    const { result } = response
    const meta: JsonObject = isJsonObject(result['_meta']) ? result['_meta'] : {}
    return { ...response, result: { ...result, _meta: { ...meta, ...signature } } }
  }
}

/**
 * Creates an extension that appends the instance's number to progress messages. A task's client sees in them which
 * instance runs the task, because any instance may answer the requests about it.
 */
export function signProgress({ id }: Instance): ServerExtension<'progressSignature', undefined> {
  const signed = (notification: RpcNotification): RpcNotification => {
    const { method, params = {} } = notification
    const { message } = params
    if (method !== 'notifications/progress' || typeof message !== 'string') return notification
    return { ...notification, params: { ...params, message: `${message} (instance ${id})` } }
  }
  return {
    extends: 'server',
    name: 'progressSignature',
    identifier: 'dev.x/progress-signature',
    middleware: (next) => (request, call) =>
      next(
        request,
        withNotify(call, (notification) => call.notify(signed(notification))),
      ),
  }
}

/** Returns the number of the instance that sent a progress message, if the message names it. */
export function workerIn(message: string | undefined): number | undefined {
  const id = / \(instance (\d{1,9})\)$/.exec(message ?? '')?.[1]
  return id === undefined ? undefined : Number(id)
}

/** Returns the instance that produced a response, if the response names it. */
export function readInstance(response: RpcResponse): Instance | undefined {
  if (!('result' in response)) return undefined
  const meta = response.result['_meta']
  return isJsonObject(meta) ? instanceIn(meta) : undefined
}

/** Returns the instance in the `_meta` of a result. */
export function instanceIn(meta: JsonObject): Instance | undefined {
  const instance = meta[instanceKey]
  if (!isJsonObject(instance)) return undefined
  const { id, pid } = instance
  return typeof id === 'number' && typeof pid === 'number' ? { id, pid } : undefined
}

/** Adds the header `X-Instance` to a response: a question to a client of an older revision has no `_meta` of a result. */
export function addInstanceHeader({ id, pid }: Instance, response: ServerResponse): void {
  response.setHeader(headerName, `${id}; pid=${pid}`)
}

/** Returns the instance that the headers of a response name. */
export function readInstanceHeader(headers: Headers): Instance | undefined {
  const [, id, pid] = /^(\d{1,9}); pid=(\d{1,9})$/.exec(headers.get(headerName) ?? '') ?? []
  return id === undefined || pid === undefined ? undefined : { id: Number(id), pid: Number(pid) }
}
