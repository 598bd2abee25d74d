import * as z from 'zod/mini'
import { jsonObject, jsonValue, requestId } from './json.zod.ts'
import { result } from './result.zod.ts'
import type {
  RequestId,
  RpcError,
  RpcMessage,
  RpcNotification,
  RpcNotificationFields,
  RpcRequest,
  RpcRequestFields,
  RpcResponse,
  RpcResult,
  WireError,
} from './rpc.ts'

const jsonrpc = z.literal('2.0')

/** Validates a {@link RpcRequestFields}. */
export const rpcRequestFields: z.ZodMiniType<RpcRequestFields> = z.looseObject({
  method: z.string(),
  params: z.optional(jsonObject),
})

/** Validates a {@link RpcNotificationFields}. */
export const rpcNotificationFields: z.ZodMiniType<RpcNotificationFields> = z.looseObject({
  method: z.string(),
  params: z.optional(jsonObject),
})

/** Validates a {@link RpcRequest} of any method. */
export const rpcRequest: z.ZodMiniType<RpcRequest> = z.looseObject({
  jsonrpc,
  id: requestId,
  method: z.string(),
  params: z.optional(jsonObject),
})

/** Validates a {@link RpcNotification} of any method. */
export const rpcNotification: z.ZodMiniType<RpcNotification> = z.looseObject({
  jsonrpc,
  method: z.string(),
  params: z.optional(jsonObject),
})

/** Validates a {@link RpcResult} of this revision, which has a `resultType`. */
export const rpcResult: z.ZodMiniType<RpcResult> = z.looseObject({ jsonrpc, id: requestId, result })

/** Validates a {@link WireError}. */
export const wireError: z.ZodMiniType<WireError> = z.looseObject({
  code: z.int(),
  message: z.string(),
  data: z.optional(jsonValue),
})

/** Validates a {@link RpcError}. */
export const rpcError: z.ZodMiniType<RpcError> = z.looseObject({ jsonrpc, id: z.optional(requestId), error: wireError })

/** Validates a {@link RpcResponse}. */
export const rpcResponse: z.ZodMiniType<RpcResponse> = z.union([rpcResult, rpcError])

/** Validates a {@link RpcMessage}. */
export const rpcMessage: z.ZodMiniType<RpcMessage> = z.union([rpcRequest, rpcNotification, rpcResult, rpcError])

/** Creates a validator of one method's request in its JSON-RPC envelope. */
export function requestValidator<M extends string, P>(
  method: M,
  params: z.ZodMiniType<P>,
): z.ZodMiniType<{ readonly jsonrpc: '2.0'; readonly id: RequestId; readonly method: M; readonly params: P }> {
  return z.looseObject({ jsonrpc, id: requestId, method: z.literal(method), params })
}

/** Creates a validator of one method's notification in its JSON-RPC envelope; optional `params` say so themselves. */
export function notificationValidator<M extends string, P>(
  method: M,
  params: z.ZodMiniType<P>,
): z.ZodMiniType<{ readonly jsonrpc: '2.0'; readonly method: M; readonly params: P }> {
  return z.looseObject({ jsonrpc, method: z.literal(method), params })
}

/** Creates a validator of a response with a result in its JSON-RPC envelope. */
export function responseValidator<R>(
  result: z.ZodMiniType<R>,
): z.ZodMiniType<{ readonly jsonrpc: '2.0'; readonly id: RequestId; readonly result: R }> {
  return z.looseObject({ jsonrpc, id: requestId, result })
}
