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
 * The kind of a result: `complete` holds the final content, `input_required` asks for input first. Extensions add
 * values. An unknown one makes the result invalid (basic/index, ResultType).
 */
export type ResultType = 'complete' | 'input_required' | (string & {})

/** The shape of {@link ResultType}. */
export const resultType: Shape<ResultType> = string

/** The members of every result, and any others (basic/index, result responses). */
export type Result = {
  readonly _meta?: ResultMetaObject | undefined
  /** Absent in results of servers of an earlier revision, where it means `complete`. */
  readonly resultType: ResultType
  readonly [key: string]: JsonValue | undefined
}

/** The members of every result. */
export const resultMembers = { _meta: optional(resultMetaObject), resultType }

/** The shape of {@link Result}. */
export const result = looseShape<Result>(resultMembers)

/** A result without content: the request succeeded (basic/index). */
export type EmptyResult = Result

/** The shape of {@link EmptyResult}. */
export const emptyResult: Shape<EmptyResult> = result

// A result of this revision has a resultType. Results of earlier revisions have none.
const resultOfThisRevision: Description = result

/** The shape of {@link RpcResult}. */
export const rpcResult = shape<RpcResult>({ jsonrpc, id: requestId, result: resultOfThisRevision })

/** The shape of {@link RpcResponse}. */
export const rpcResponse: Shape<RpcResponse> = union([rpcResult, rpcError])

/** The shape of {@link RpcMessage}. */
export const rpcMessage: Shape<RpcMessage> = union([rpcRequest, rpcNotification, rpcResult, rpcError])
