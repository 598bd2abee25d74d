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
type Takes<Wide, Narrow extends Wide> = Wide | Narrow

/** Every wire type stands where a JSON object is wanted, without a cast: they are aliases, not interfaces, for this. */
export type WireTypesAreJson =
  | Takes<JsonObject, ServerResult>
  | Takes<JsonObject, DiscoverResult>
  | Takes<JsonObject, InputRequiredResult>
  | Takes<JsonObject, Tool>
  | Takes<JsonObject, ClientRequest['params']>
  | Takes<RpcRequest, CallToolRequest>
  | Takes<RpcRequest, ClientRequest>
  | Takes<RpcNotification, ServerNotification>
