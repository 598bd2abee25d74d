/** The requests of the published schema, as whole messages. Only tests use them. */

import { callToolRequestParams, type CallToolRequestParams } from '../server/tool-requests.ts'
import { completeRequestParams, type CompleteRequestParams } from '../server/completion.ts'
import { getPromptRequestParams, type GetPromptRequestParams } from '../server/prompts.ts'
import { jsonrpc, requestId, type RequestId, type RpcRequest } from '../basic/rpc.ts'
import { jsonObject, literal, optional, shape, string } from '../basic/shape.ts'
import { paginatedRequestParams, type PaginatedRequestParams } from '../server/pagination.ts'
import { readResourceRequestParams, type ReadResourceRequestParams } from '../server/resource-requests.ts'
import { requestParams, type RequestParams } from '../basic/meta.ts'
import { subscriptionsListenRequestParams, type SubscriptionsListenRequestParams } from '../patterns/subscriptions.ts'

/**
 * A request without `jsonrpc` and `id`, which a server sends to a client within a result (basic/patterns/mrtr). The
 * specification calls it `Request`.
 */
export type RpcRequestFields = Pick<RpcRequest, 'method' | 'params'>

export const rpcRequestFields = shape<RpcRequestFields>({ method: string, params: optional(jsonObject) })

/** Opens a stream of notifications that lasts until either side ends it (basic/patterns/subscriptions). */
export type SubscriptionsListenRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'subscriptions/listen'
  readonly params: SubscriptionsListenRequestParams
}

export const subscriptionsListenRequest = shape<SubscriptionsListenRequest>({
  jsonrpc,
  id: requestId,
  method: literal('subscriptions/listen'),
  params: subscriptionsListenRequestParams,
})

/** Requests completions of an argument (server/utilities/completion). */
export type CompleteRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'completion/complete'
  readonly params: CompleteRequestParams
}

export const completeRequest = shape<CompleteRequest>({
  jsonrpc,
  id: requestId,
  method: literal('completion/complete'),
  params: completeRequestParams,
})

/**
 * Requests the server's identity and capabilities. Every server answers this request, and no client is required to send
 * it (server/discover).
 */
export type DiscoverRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'server/discover'
  readonly params: RequestParams
}

export const discoverRequest = shape<DiscoverRequest>({
  jsonrpc,
  id: requestId,
  method: literal('server/discover'),
  params: requestParams,
})

/** A paginated request (server/utilities/pagination). */
export type PaginatedRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: string
  readonly params: PaginatedRequestParams
}

export const paginatedRequest = shape<PaginatedRequest>({
  jsonrpc,
  id: requestId,
  method: string,
  params: paginatedRequestParams,
})

/** Requests a page of the server's prompts (server/prompts, listing prompts). */
export type ListPromptsRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'prompts/list'
  readonly params: PaginatedRequestParams
}

export const listPromptsRequest = shape<ListPromptsRequest>({
  jsonrpc,
  id: requestId,
  method: literal('prompts/list'),
  params: paginatedRequestParams,
})

/** Requests a prompt with its arguments filled in (server/prompts, getting a prompt). */
export type GetPromptRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'prompts/get'
  readonly params: GetPromptRequestParams
}

export const getPromptRequest = shape<GetPromptRequest>({
  jsonrpc,
  id: requestId,
  method: literal('prompts/get'),
  params: getPromptRequestParams,
})

/** Requests a page of the server's resources (server/resources, listing resources). */
export type ListResourcesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/list'
  readonly params: PaginatedRequestParams
}

export const listResourcesRequest = shape<ListResourcesRequest>({
  jsonrpc,
  id: requestId,
  method: literal('resources/list'),
  params: paginatedRequestParams,
})

/** Requests a page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/templates/list'
  readonly params: PaginatedRequestParams
}

export const listResourceTemplatesRequest = shape<ListResourceTemplatesRequest>({
  jsonrpc,
  id: requestId,
  method: literal('resources/templates/list'),
  params: paginatedRequestParams,
})

/** Requests the contents of a resource (server/resources, reading resources). */
export type ReadResourceRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/read'
  readonly params: ReadResourceRequestParams
}

export const readResourceRequest = shape<ReadResourceRequest>({
  jsonrpc,
  id: requestId,
  method: literal('resources/read'),
  params: readResourceRequestParams,
})

/** Requests a page of the server's tools (server/tools, listing tools). */
export type ListToolsRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/list'
  readonly params: PaginatedRequestParams
}

export const listToolsRequest = shape<ListToolsRequest>({
  jsonrpc,
  id: requestId,
  method: literal('tools/list'),
  params: paginatedRequestParams,
})

/** Calls a tool (server/tools, calling tools). */
export type CallToolRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'tools/call'
  readonly params: CallToolRequestParams
}

export const callToolRequest = shape<CallToolRequest>({
  jsonrpc,
  id: requestId,
  method: literal('tools/call'),
  params: callToolRequestParams,
})
