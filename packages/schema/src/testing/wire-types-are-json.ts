import type {
  CallToolRequest,
  ClientRequest,
  DiscoverResult,
  InputRequiredResult,
  JsonObject,
  RpcNotification,
  RpcRequest,
  ServerNotification,
  ServerResult,
  Tool,
} from '../index.ts'

/** Fails to compile unless `Wide` takes every `Narrow`. */
type AssertAssignable<Wide, Narrow extends Wide> = Wide | Narrow

/** Every wire type stands where a JSON object is wanted, without a cast: they are aliases, not interfaces, for this. */
export type WireTypesAreJson =
  | AssertAssignable<JsonObject, ServerResult>
  | AssertAssignable<JsonObject, DiscoverResult>
  | AssertAssignable<JsonObject, InputRequiredResult>
  | AssertAssignable<JsonObject, Tool>
  | AssertAssignable<JsonObject, ClientRequest['params']>
  | AssertAssignable<RpcRequest, CallToolRequest>
  | AssertAssignable<RpcRequest, ClientRequest>
  | AssertAssignable<RpcNotification, ServerNotification>
