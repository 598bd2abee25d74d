import { type CancelledNotification, cancelledNotification } from './whole-notifications.ts'
import {
  type CallToolRequest,
  callToolRequest,
  type CompleteRequest,
  completeRequest,
  type DiscoverRequest,
  discoverRequest,
  type GetPromptRequest,
  getPromptRequest,
  type ListPromptsRequest,
  listPromptsRequest,
  type ListResourcesRequest,
  listResourcesRequest,
  type ListResourceTemplatesRequest,
  listResourceTemplatesRequest,
  type ListToolsRequest,
  listToolsRequest,
  type ReadResourceRequest,
  readResourceRequest,
  type SubscriptionsListenRequest,
  subscriptionsListenRequest,
} from './whole-requests.ts'
import { type Result, result } from '../basic/result.ts'
import { type Shape, union } from '../basic/shape.ts'

/** Every request that a client can send (basic/index). */
export type ClientRequest =
  | DiscoverRequest
  | ListResourcesRequest
  | ListResourceTemplatesRequest
  | ReadResourceRequest
  | SubscriptionsListenRequest
  | ListPromptsRequest
  | GetPromptRequest
  | ListToolsRequest
  | CallToolRequest
  | CompleteRequest

export const clientRequest: Shape<ClientRequest> = union([
  discoverRequest,
  listResourcesRequest,
  listResourceTemplatesRequest,
  readResourceRequest,
  subscriptionsListenRequest,
  listPromptsRequest,
  getPromptRequest,
  listToolsRequest,
  callToolRequest,
  completeRequest,
])

/** Every notification that a client can send (basic/index). */
export type ClientNotification = CancelledNotification

export const clientNotification: Shape<ClientNotification> = cancelledNotification

/** Every result that a client could send. Servers send no requests in this revision (basic/index). */
export type ClientResult = Result

export const clientResult: Shape<ClientResult> = result
