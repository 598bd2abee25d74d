import { type CallInit, createCall, type Exchange } from '@x/exchange'
import {
  type JsonObject,
  metaKeys,
  protocolVersion,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'

/** Creates the `_meta` that every request requires, with changes. A value of `undefined` removes a field. */
function metaWith(changes: JsonObject = {}): JsonObject {
  const meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {}, ...changes }
  return Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined))
}

/** The parts of a raw request. */
export interface RawRequest {
  readonly method: string
  readonly params?: JsonObject
  readonly meta?: JsonObject
  readonly id?: RequestId
}

/** Creates a request without the checks of a client. */
function rawRequest({ method, params = {}, meta = {}, id = 1 }: RawRequest): RpcRequest {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: metaWith(meta) } }
}

/** Sends a raw request. Returns its response and the notifications before it. */
export async function send(
  exchange: Exchange,
  raw: RawRequest,
  call: CallInit = {},
): Promise<{ readonly response: RpcResponse; readonly notifications: readonly RpcNotification[] }> {
  const notifications: RpcNotification[] = []
  const notify = (message: RpcNotification): void => void notifications.push(message)
  const response = await exchange(rawRequest(raw), createCall({ notify, ...call }))
  return { response, notifications }
}

/** Returns the result of a response. An error response fails the test. */
export function resultOf(response: RpcResponse): JsonObject {
  if ('result' in response) return response.result
  throw new Error(`expected a result, got the error ${JSON.stringify(response.error)}`)
}
