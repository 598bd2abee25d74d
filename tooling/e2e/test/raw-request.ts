import {
  type CallInit,
  createCall,
  type Exchange,
  type JsonObject,
  metaKeys,
  protocolVersion,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'

/** The `_meta` that every request needs, with changes; a value of `undefined` takes a field out. */
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

/** A request as it stands on the wire, for what no well-behaved client sends. */
function rawRequest({ method, params = {}, meta = {}, id = 1 }: RawRequest): RpcRequest {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: metaWith(meta) } }
}

/** Sends a raw request and gives its response with the notifications that came before it. */
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

/** The result of a response; an error fails the test with what it says. */
export function resultOf(response: RpcResponse): JsonObject {
  if ('result' in response) return response.result
  throw new Error(`expected a result, got the error ${JSON.stringify(response.error)}`)
}
