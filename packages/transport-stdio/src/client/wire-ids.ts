import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  metaKeys,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { requestIdKey } from '../request-notifications.ts'

/**
 * Replaces the caller's request id by the connection's, because several clients may share a stream. The progress token,
 * where there is one, is replaced too.
 */
export function withWireId({ method, params }: RpcRequest, id: number): RpcRequest {
  if (params === undefined) return { jsonrpc: '2.0', id, method }
  const { _meta } = params
  if (!isJsonObject(_meta) || !isId(_meta['progressToken'])) return { jsonrpc: '2.0', id, method, params }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ..._meta, progressToken: id } } }
}

/** Returns the id that a connection sent, from a number or, as some servers write it, its decimal form. */
export function parseWireId(id: unknown): number | undefined {
  if (typeof id === 'number') return id
  const parsedId = typeof id === 'string' ? Number(id) : undefined
  return String(parsedId) === id ? parsedId : undefined
}

/** Restores the caller's id of a response. */
export function withCallerId(response: RpcResponse, id: RequestId): RpcResponse {
  if (!('result' in response)) return { ...response, id }
  const { result } = response
  return { jsonrpc: '2.0', id, result: withSubscriptionId(result, id) }
}

/**
 * Returns the request id of a notification from any of its places. `undefined` without one (basic/transports/stdio).
 */
export function requestIdOf({ params }: RpcNotification): JsonValue | undefined {
  if (params === undefined) return undefined
  if (params['progressToken'] !== undefined) return params['progressToken']
  const { _meta } = params
  return isJsonObject(_meta) ? (_meta[metaKeys.subscriptionId] ?? _meta[requestIdKey]) : undefined
}

/** Restores the caller's progress token and id of a notification. */
export function withCallerIds(message: RpcNotification, { id, params: callerParams }: RpcRequest): RpcNotification {
  const { params } = message
  if (params === undefined) return message
  if (params['progressToken'] === undefined) return { ...message, params: withSubscriptionId(params, id) }
  const meta = callerParams?.['_meta']
  return { ...message, params: { ...params, progressToken: isJsonObject(meta) ? meta['progressToken'] : undefined } }
}

/** Returns true if a request asks for log messages, which have no request id of their own. */
export function hasLogLevel({ params }: RpcRequest): boolean {
  const meta = params?.['_meta']
  return isJsonObject(meta) && meta[metaKeys.logLevel] !== undefined
}

function withSubscriptionId<T extends JsonObject>(holder: T, id: RequestId): T {
  const { _meta } = holder
  if (!isJsonObject(_meta) || _meta[metaKeys.subscriptionId] === undefined) return holder
  return { ...holder, _meta: { ..._meta, [metaKeys.subscriptionId]: id } }
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number'
}
