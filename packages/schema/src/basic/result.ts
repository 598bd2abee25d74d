import type { JsonValue } from '@x/core'
import { type ResultMetaObject, resultMetaObject } from './meta.ts'
import {
  jsonrpc,
  requestId,
  rpcError,
  type RpcMessage,
  rpcNotification,
  rpcRequest,
  type RpcResponse,
  type RpcResult,
} from './rpc.ts'
import { type Description, looseShape, optional, type Shape, shape, string, union } from './shape.ts'

/**
 * The kind of a result. `complete` means the final result, and `input_required` means that the server asks for input
 * first. Extensions add values. A result with an unknown value is invalid (basic/index, ResultType).
 */
export type ResultType = 'complete' | 'input_required' | (string & {})

/** The shape of {@link ResultType}. */
export const resultType: Shape<ResultType> = string

/** A result with the members that every result has, and any other members (basic/index, result responses). */
export type Result = {
  readonly _meta?: ResultMetaObject | undefined
  /** The kind of the result. Absent in results of servers of an earlier revision, where it means `complete`. */
  readonly resultType: ResultType
  readonly [key: string]: JsonValue | undefined
}

/** The shapes of the members that every result has. */
export const resultMembers = { _meta: optional(resultMetaObject), resultType }

/** The shape of {@link Result}. */
export const result = looseShape<Result>(resultMembers)

/** A result without content: the request succeeded (basic/index). */
export type EmptyResult = Result

/** The shape of {@link EmptyResult}. */
export const emptyResult: Shape<EmptyResult> = result

// This shape describes results of this revision, which have a `resultType`. The type `RpcResult` also allows results of
// earlier revisions, which have none.
const resultOfThisRevision: Description = result

/** The shape of {@link RpcResult}. */
export const rpcResult = shape<RpcResult>({ jsonrpc, id: requestId, result: resultOfThisRevision })

/** The shape of {@link RpcResponse}. */
export const rpcResponse: Shape<RpcResponse> = union([rpcResult, rpcError])

/** The shape of {@link RpcMessage}. */
export const rpcMessage: Shape<RpcMessage> = union([rpcRequest, rpcNotification, rpcResult, rpcError])
