import type { DiscoverResult, InputRequiredResult, JsonObject, RpcNotification, RpcRequest, Tool } from '../index.ts'
import type { ClientRequest } from './client-messages.ts'
import type { ServerResult } from './whole-responses.ts'
import type { ServerNotification } from './whole-notifications.ts'
import type { CallToolRequest } from './whole-requests.ts'

/** Fails to compile unless every `Narrow` is assignable to `Wide`. */
type AssertAssignable<Wide, Narrow extends Wide> = Wide | Narrow

/**
 * Wire types must be assignable to a JSON object without a cast. They are type aliases for this reason, because
 * interfaces are not assignable.
 */
export type WireTypesAreJson =
  | AssertAssignable<JsonObject, ServerResult>
  | AssertAssignable<JsonObject, DiscoverResult>
  | AssertAssignable<JsonObject, InputRequiredResult>
  | AssertAssignable<JsonObject, Tool>
  | AssertAssignable<JsonObject, ClientRequest['params']>
  | AssertAssignable<RpcRequest, CallToolRequest>
  | AssertAssignable<RpcRequest, ClientRequest>
  | AssertAssignable<RpcNotification, ServerNotification>
