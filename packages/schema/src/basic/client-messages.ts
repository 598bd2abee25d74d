import type { CancelledNotification } from '../patterns/cancellation.ts'
import type { SubscriptionsListenRequest } from '../patterns/subscriptions.ts'
import type { CompleteRequest } from '../server/completion.ts'
import type { DiscoverRequest } from '../server/discover.ts'
import type { GetPromptRequest, ListPromptsRequest } from '../server/prompts.ts'
import type {
  ListResourcesRequest,
  ListResourceTemplatesRequest,
  ReadResourceRequest,
} from '../server/resource-requests.ts'
import type { CallToolRequest, ListToolsRequest } from '../server/tool-requests.ts'
import type { Result } from './result.ts'

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

/** Every notification that a client can send (basic/index). */
export type ClientNotification = CancelledNotification

/** Every result that a client could send; servers send no requests in this revision (basic/index). */
export type ClientResult = Result
