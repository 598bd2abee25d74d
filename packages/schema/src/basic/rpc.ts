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

/** Pairs a response with its request. It is unique among the pending requests of one client (basic/index). */
export type RequestId = string | number

export const jsonrpc = literal('2.0')

export const requestId: Shape<RequestId> = stringOrInteger

/** Expects exactly one {@link RpcResponse}. The method's row in `methods` checks its `params`. */
export interface RpcRequest {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: string
  readonly params?: JsonObject | undefined
}

export const rpcRequest = shape<RpcRequest>({ jsonrpc, id: requestId, method: string, params: optional(jsonObject) })

/** Expects no response. */
export interface RpcNotification {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: JsonObject | undefined
}

export const rpcNotification = shape<RpcNotification>({ jsonrpc, method: string, params: optional(jsonObject) })

/** Answers a request that succeeded. */
export interface RpcResult {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: JsonObject
}

/** The error in an {@link RpcError}, as it is sent. */
export interface WireError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue | undefined
}

export const wireError = shape<WireError>({ code: integer, message: string, data: optional(jsonValue) })

/** Answers a request that failed. It has no id if that of the request could not be read. */
export interface RpcError {
  readonly jsonrpc: '2.0'
  readonly id?: RequestId | undefined
  readonly error: WireError
}

export const rpcError = shape<RpcError>({ jsonrpc, id: optional(requestId), error: wireError })

/** Answers an {@link RpcRequest}. */
export type RpcResponse = RpcResult | RpcError

/**
 * A request from a server to a client of an older revision. Its `state`, if it has one, is opaque to the client
 * (SEP-1685).
 */
export type StatefulRequest = RpcRequest & { readonly state?: string | JsonObject }

/** Answers a {@link StatefulRequest}, and repeats its `state` unchanged, next to `result` or `error`. */
export type StatefulResponse = RpcResponse & Pick<StatefulRequest, 'state'>

/** What travels over a transport. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse
