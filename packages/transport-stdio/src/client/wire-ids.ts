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
 * Gives a request an id of the connection, because several clients may share the streams. A progress token is replaced
 * too.
 */
export function withWireId({ method, params }: RpcRequest, id: number): RpcRequest {
  if (params === undefined) return { jsonrpc: '2.0', id, method }
  const { _meta } = params
  if (!isJsonObject(_meta) || !isId(_meta['progressToken'])) return { jsonrpc: '2.0', id, method, params }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ..._meta, progressToken: id } } }
}

/**
 * Reads an id that this connection has sent. Some servers return it as a decimal string. Undefined for any other value.
 */
export function parseWireId(id: unknown): number | undefined {
  if (typeof id === 'number') return id
  const parsedId = typeof id === 'string' ? Number(id) : undefined
  return String(parsedId) === id ? parsedId : undefined
}

export function withCallerId(response: RpcResponse, id: RequestId): RpcResponse {
  if (!('result' in response)) return { ...response, id }
  const { result } = response
  return { jsonrpc: '2.0', id, result: withSubscriptionId(result, id) }
}

/** A notification has its request id in one of three members, or in none (basic/transports/stdio). */
export function requestIdOf({ params }: RpcNotification): JsonValue | undefined {
  if (params === undefined) return undefined
  if (params['progressToken'] !== undefined) return params['progressToken']
  const { _meta } = params
  return isJsonObject(_meta) ? (_meta[metaKeys.subscriptionId] ?? _meta[requestIdKey]) : undefined
}

/**
 * Puts the caller's progress token or id back into a notification. The id of the connection is removed, because a proxy
 * may pass the notification on to a host that has other ids.
 */
export function withCallerIds(message: RpcNotification, { id, params: callerParams }: RpcRequest): RpcNotification {
  const { params } = message
  if (params === undefined) return message
  if (params['progressToken'] === undefined)
    return { ...message, params: withoutRequestId(withSubscriptionId(params, id)) }
  const meta = callerParams?.['_meta']
  return { ...message, params: { ...params, progressToken: isJsonObject(meta) ? meta['progressToken'] : undefined } }
}

/** Log messages may come without a request id, so it matters which request asks for them. */
export function hasLogLevel({ params }: RpcRequest): boolean {
  const meta = params?.['_meta']
  return isJsonObject(meta) && meta[metaKeys.logLevel] !== undefined
}

function withSubscriptionId<T extends JsonObject>(holder: T, id: RequestId): T {
  const { _meta } = holder
  if (!isJsonObject(_meta) || _meta[metaKeys.subscriptionId] === undefined) return holder
  return { ...holder, _meta: { ..._meta, [metaKeys.subscriptionId]: id } }
}

function withoutRequestId({ _meta, ...params }: JsonObject): JsonObject {
  if (!isJsonObject(_meta) || _meta[requestIdKey] === undefined)
    return _meta === undefined ? params : { ...params, _meta }
  const { [requestIdKey]: _requestId, ...meta } = _meta
  return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta }
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number'
}
