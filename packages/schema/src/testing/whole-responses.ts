/** The responses of the published schema, as whole messages, and the union of all results. Only tests use them. */

import { callToolResult, listToolsResult, type CallToolResult, type ListToolsResult } from '../server/tool-requests.ts'
import { completeResult, type CompleteResult } from '../server/completion.ts'
import { discoverResult, type DiscoverResult } from '../server/discover.ts'
import { getPromptResult, listPromptsResult, type GetPromptResult, type ListPromptsResult } from '../server/prompts.ts'
import { inputRequiredResult, type InputRequiredResult } from '../patterns/mrtr.ts'
import { jsonrpc, requestId, type RequestId } from '../basic/rpc.ts'
import {
  listResourceTemplatesResult,
  listResourcesResult,
  readResourceResult,
  type ListResourceTemplatesResult,
  type ListResourcesResult,
  type ReadResourceResult,
} from '../server/resource-requests.ts'
import { result, type Result } from '../basic/result.ts'
import { type Shape, shape, union } from '../basic/shape.ts'
import { subscriptionsListenResult, type SubscriptionsListenResult } from '../patterns/subscriptions.ts'

/** The response with a {@link SubscriptionsListenResult}. */
export type SubscriptionsListenResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: SubscriptionsListenResult
}

/** The shape of {@link SubscriptionsListenResultResponse}. */
export const subscriptionsListenResultResponse = shape<SubscriptionsListenResultResponse>({
  jsonrpc,
  id: requestId,
  result: subscriptionsListenResult,
})

/** The response with a {@link CompleteResult}. */
export type CompleteResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: CompleteResult
}

/** The shape of {@link CompleteResultResponse}. */
export const completeResultResponse = shape<CompleteResultResponse>({ jsonrpc, id: requestId, result: completeResult })

/** The response with a {@link DiscoverResult}. */
export type DiscoverResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: DiscoverResult
}

/** The shape of {@link DiscoverResultResponse}. */
export const discoverResultResponse = shape<DiscoverResultResponse>({ jsonrpc, id: requestId, result: discoverResult })

/** The response with a {@link ListPromptsResult}. */
export type ListPromptsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListPromptsResult
}

/** The shape of {@link ListPromptsResultResponse}. */
export const listPromptsResultResponse = shape<ListPromptsResultResponse>({
  jsonrpc,
  id: requestId,
  result: listPromptsResult,
})

/** The response with a {@link GetPromptResult}, or a request for input. */
export type GetPromptResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | GetPromptResult
}

/** The shape of {@link GetPromptResultResponse}. */
export const getPromptResultResponse = shape<GetPromptResultResponse>({
  jsonrpc,
  id: requestId,
  result: union([inputRequiredResult, getPromptResult]),
})

/** The response with a {@link ListResourcesResult}. */
export type ListResourcesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourcesResult
}

/** The shape of {@link ListResourcesResultResponse}. */
export const listResourcesResultResponse = shape<ListResourcesResultResponse>({
  jsonrpc,
  id: requestId,
  result: listResourcesResult,
})

/** The response with a {@link ListResourceTemplatesResult}. */
export type ListResourceTemplatesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourceTemplatesResult
}

/** The shape of {@link ListResourceTemplatesResultResponse}. */
export const listResourceTemplatesResultResponse = shape<ListResourceTemplatesResultResponse>({
  jsonrpc,
  id: requestId,
  result: listResourceTemplatesResult,
})

/** The response with a {@link ReadResourceResult}, or a request for input. */
export type ReadResourceResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | ReadResourceResult
}

/** The shape of {@link ReadResourceResultResponse}. */
export const readResourceResultResponse = shape<ReadResourceResultResponse>({
  jsonrpc,
  id: requestId,
  result: union([inputRequiredResult, readResourceResult]),
})

/** The response with a {@link ListToolsResult}. */
export type ListToolsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListToolsResult
}

/** The shape of {@link ListToolsResultResponse}. */
export const listToolsResultResponse = shape<ListToolsResultResponse>({
  jsonrpc,
  id: requestId,
  result: listToolsResult,
})

/** The response with a {@link CallToolResult}, or a request for input. */
export type CallToolResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | CallToolResult
}

/** The shape of {@link CallToolResultResponse}. */
export const callToolResultResponse = shape<CallToolResultResponse>({
  jsonrpc,
  id: requestId,
  result: union([inputRequiredResult, callToolResult]),
})

/** Every result that a server can send (basic/index). */
export type ServerResult =
  | Result
  | InputRequiredResult
  | DiscoverResult
  | ListResourcesResult
  | ListResourceTemplatesResult
  | ReadResourceResult
  | SubscriptionsListenResult
  | ListPromptsResult
  | GetPromptResult
  | ListToolsResult
  | CallToolResult
  | CompleteResult

/** The shape of {@link ServerResult}. */
export const serverResult: Shape<ServerResult> = result
