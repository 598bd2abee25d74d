import type { JsonObject, JsonValue } from '@x/core'
import {
  integer,
  jsonObject,
  jsonValue,
  optional,
  type Shape,
  shape,
  string,
  stringOrInteger,
  literal,
} from './shape.ts'

/**
 * The id that pairs a response with its request. It is unique among the pending requests of one client (basic/index).
 */
export type RequestId = string | number

/** The version of JSON-RPC. */
export const jsonrpc = literal('2.0')

/** The shape of {@link RequestId}. */
export const requestId: Shape<RequestId> = stringOrInteger

/** A request, which expects exactly one {@link RpcResponse}. The method's row in `methods` checks its `params`. */
export interface RpcRequest {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** The shape of {@link RpcRequest}. */
export const rpcRequest = shape<RpcRequest>({ jsonrpc, id: requestId, method: string, params: optional(jsonObject) })

/** A message that expects no response. */
export interface RpcNotification {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** The shape of {@link RpcNotification}. */
export const rpcNotification = shape<RpcNotification>({ jsonrpc, method: string, params: optional(jsonObject) })

/** The response to a request that succeeded. */
export interface RpcResult {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: JsonObject
}

/** The error in a {@link RpcError}, as it is sent. */
export interface WireError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue | undefined
}

/** The shape of {@link WireError}. */
export const wireError = shape<WireError>({ code: integer, message: string, data: optional(jsonValue) })

/** The response to a request that failed. It has no id if the id of the request could not be read. */
export interface RpcError {
  readonly jsonrpc: '2.0'
  readonly id?: RequestId | undefined
  readonly error: WireError
}

/** The shape of {@link RpcError}. */
export const rpcError = shape<RpcError>({ jsonrpc, id: optional(requestId), error: wireError })

/** The response to a {@link RpcRequest}. */
export type RpcResponse = RpcResult | RpcError

/**
 * A request from a server to a client of an older revision. It may contain a `state`, which is opaque to the client
 * (SEP-1685).
 */
export type StatefulRequest = RpcRequest & { readonly state?: string | JsonObject }

/** The response to a {@link StatefulRequest}. It repeats the `state` unchanged, next to `result` or `error`. */
export type StatefulResponse = RpcResponse & Pick<StatefulRequest, 'state'>

/** Every message that travels over a transport. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse
