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

export type SubscriptionsListenResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: SubscriptionsListenResult
}

export const subscriptionsListenResultResponse = shape<SubscriptionsListenResultResponse>({
  jsonrpc,
  id: requestId,
  result: subscriptionsListenResult,
})

export type CompleteResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: CompleteResult
}

export const completeResultResponse = shape<CompleteResultResponse>({ jsonrpc, id: requestId, result: completeResult })

export type DiscoverResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: DiscoverResult
}

export const discoverResultResponse = shape<DiscoverResultResponse>({ jsonrpc, id: requestId, result: discoverResult })

export type ListPromptsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListPromptsResult
}

export const listPromptsResultResponse = shape<ListPromptsResultResponse>({
  jsonrpc,
  id: requestId,
  result: listPromptsResult,
})

/** Or a request for input. */
export type GetPromptResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | GetPromptResult
}

export const getPromptResultResponse = shape<GetPromptResultResponse>({
  jsonrpc,
  id: requestId,
  result: union([inputRequiredResult, getPromptResult]),
})

export type ListResourcesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourcesResult
}

export const listResourcesResultResponse = shape<ListResourcesResultResponse>({
  jsonrpc,
  id: requestId,
  result: listResourcesResult,
})

export type ListResourceTemplatesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourceTemplatesResult
}

export const listResourceTemplatesResultResponse = shape<ListResourceTemplatesResultResponse>({
  jsonrpc,
  id: requestId,
  result: listResourceTemplatesResult,
})

/** Or a request for input. */
export type ReadResourceResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | ReadResourceResult
}

export const readResourceResultResponse = shape<ReadResourceResultResponse>({
  jsonrpc,
  id: requestId,
  result: union([inputRequiredResult, readResourceResult]),
})

export type ListToolsResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListToolsResult
}

export const listToolsResultResponse = shape<ListToolsResultResponse>({
  jsonrpc,
  id: requestId,
  result: listToolsResult,
})

/** Or a request for input. */
export type CallToolResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | CallToolResult
}

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

export const serverResult: Shape<ServerResult> = result
