import type { JsonObject, JsonValue } from '@x/core'

/** Pairs a response with its request; unique among the pending requests of one client (basic/index). */
export type RequestId = string | number

/** A call that expects exactly one {@link RpcResponse}. Its `params` are parsed by the method's row in `methods`. */
export interface RpcRequest {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** A message that expects no response. */
export interface RpcNotification {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** The response of a request that succeeded. */
export interface RpcResult {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: JsonObject
}

/** The error of a {@link RpcError} in its wire form. */
export interface WireError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue | undefined
}

/** The response of a request that failed; without an id when the request's own could not be read. */
export interface RpcError {
  readonly jsonrpc: '2.0'
  readonly id?: RequestId | undefined
  readonly error: WireError
}

/** The response to a {@link RpcRequest}. */
export type RpcResponse = RpcResult | RpcError

/** The `state` of a server's request and of its response (SEP-1685); revisions before 2026-07-28 alone. */
export interface EchoedState {
  /** Meaningful to the server alone: a client returns it as it came, and none where none came. */
  readonly state?: string | JsonObject
}

/** A server's request to a client of an older revision, which may carry state (SEP-1685). */
export type StatefulRequest = RpcRequest & EchoedState

/** The response to a {@link StatefulRequest}: the state stands beside the result or the error. */
export type StatefulResponse = RpcResponse & EchoedState

/** Every message that travels over a transport. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse

/** A request without an id, as a server sends to a client (basic/patterns/mrtr). Published as `Request`. */
export type RpcRequestFields = Pick<RpcRequest, 'method' | 'params'>

/** A notification before JSON-RPC wraps it (basic/index). Published as `Notification`. */
export type RpcNotificationFields = Pick<RpcNotification, 'method' | 'params'>
