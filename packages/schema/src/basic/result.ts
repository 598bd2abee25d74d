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
 * `complete` is the final result, and `input_required` asks for input first. Extensions add values. A result with an
 * unknown value is invalid (basic/index, ResultType).
 */
export type ResultType = 'complete' | 'input_required' | (string & {})

export const resultType: Shape<ResultType> = string

/** What every result has, and any other members (basic/index, result responses). */
export type Result = {
  readonly _meta?: ResultMetaObject | undefined
  /** Kind of the result. Absent in results of servers of an earlier revision, where it means `complete`. */
  readonly resultType: ResultType
  readonly [key: string]: JsonValue | undefined
}

export const resultMembers = { _meta: optional(resultMetaObject), resultType }

export const result = looseShape<Result>(resultMembers)

/** The request succeeded, and there is nothing to say (basic/index). */
export type EmptyResult = Result

export const emptyResult: Shape<EmptyResult> = result

// Results of this revision have a `resultType`. `RpcResult` also allows those of earlier revisions, which have none.
const resultOfThisRevision: Description = result

export const rpcResult = shape<RpcResult>({ jsonrpc, id: requestId, result: resultOfThisRevision })

export const rpcResponse: Shape<RpcResponse> = union([rpcResult, rpcError])

export const rpcMessage: Shape<RpcMessage> = union([rpcRequest, rpcNotification, rpcResult, rpcError])
