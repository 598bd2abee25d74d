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
import { requestKey } from '../request-key.ts'

/**
 * A request as it goes over a stream that several clients may share: with the connection's id in the place of the
 * caller's, and as its progress token where it has one.
 */
export function withWireId({ method, params }: RpcRequest, id: number): RpcRequest {
  if (params === undefined) return { jsonrpc: '2.0', id, method }
  const { _meta } = params
  if (!isJsonObject(_meta) || !isId(_meta['progressToken'])) return { jsonrpc: '2.0', id, method, params }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ..._meta, progressToken: id } } }
}

/** A response with its caller's id again. */
export function withCallerId(response: RpcResponse, id: RequestId): RpcResponse {
  if (!('result' in response)) return { ...response, id }
  const { result } = response
  return { jsonrpc: '2.0', id, result: withSubscription(result, id) }
}

/** The id that a notification names, in whichever of its places; `undefined` when it names none (basic/transports/stdio). */
export function namedId({ params }: RpcNotification): JsonValue | undefined {
  if (params === undefined) return undefined
  if (params['progressToken'] !== undefined) return params['progressToken']
  const { _meta } = params
  return isJsonObject(_meta) ? (_meta[metaKeys.subscriptionId] ?? _meta[requestKey]) : undefined
}

/** A notification with its caller's progress token and id again. */
export function withCallerIds(message: RpcNotification, { id, params: asked }: RpcRequest): RpcNotification {
  const { params } = message
  if (params === undefined) return message
  if (params['progressToken'] === undefined) return { ...message, params: withSubscription(params, id) }
  const meta = asked?.['_meta']
  return { ...message, params: { ...params, progressToken: isJsonObject(meta) ? meta['progressToken'] : undefined } }
}

/** Whether a request asks for log messages, which name no request of their own. */
export function asksForLogs({ params }: RpcRequest): boolean {
  const meta = params?.['_meta']
  return isJsonObject(meta) && meta[metaKeys.logLevel] !== undefined
}

function withSubscription<T extends JsonObject>(holder: T, id: RequestId): T {
  const { _meta } = holder
  if (!isJsonObject(_meta) || _meta[metaKeys.subscriptionId] === undefined) return holder
  return { ...holder, _meta: { ..._meta, [metaKeys.subscriptionId]: id } }
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number'
}
