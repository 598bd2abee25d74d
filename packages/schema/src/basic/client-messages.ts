import { type CancelledNotification, cancelledNotification } from '../patterns/cancellation.ts'
import { type SubscriptionsListenRequest, subscriptionsListenRequest } from '../patterns/subscriptions.ts'
import { type CompleteRequest, completeRequest } from '../server/completion.ts'
import { type DiscoverRequest, discoverRequest } from '../server/discover.ts'
import {
  type GetPromptRequest,
  getPromptRequest,
  type ListPromptsRequest,
  listPromptsRequest,
} from '../server/prompts.ts'
import {
  type ListResourcesRequest,
  listResourcesRequest,
  type ListResourceTemplatesRequest,
  listResourceTemplatesRequest,
  type ReadResourceRequest,
  readResourceRequest,
} from '../server/resource-requests.ts'
import {
  type CallToolRequest,
  callToolRequest,
  type ListToolsRequest,
  listToolsRequest,
} from '../server/tool-requests.ts'
import { type Result, result } from './result.ts'
import { type Shape, union } from './shape.ts'

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

/** The shape of {@link ClientRequest}. */
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

/** The shape of {@link ClientNotification}. */
export const clientNotification: Shape<ClientNotification> = cancelledNotification

/** Every result that a client could send. Servers send no requests in this revision (basic/index). */
export type ClientResult = Result

/** The shape of {@link ClientResult}. */
export const clientResult: Shape<ClientResult> = result
