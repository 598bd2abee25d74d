import type { InputRequiredResult } from '../patterns/mrtr.ts'
import type { SubscriptionsListenRequestParams, SubscriptionsListenResult } from '../patterns/subscriptions.ts'
import type { CompleteRequestParams, CompleteResult } from '../server/completion.ts'
import type { DiscoverResult } from '../server/discover.ts'
import type { PaginatedRequestParams } from '../server/pagination.ts'
import type { GetPromptRequestParams, GetPromptResult, ListPromptsResult } from '../server/prompts.ts'
import type * as resources from '../server/resource-requests.ts'
import type { CallToolRequestParams, CallToolResult, ListToolsResult } from '../server/tool-requests.ts'
import * as check from './check-params.ts'
import type { RequestParams } from '../basic/meta.ts'

/** The properties of a method. */
export interface MethodRow<P = unknown> {
  /** Checks and narrows the params; throws `McpError(invalidParams)` that names the path. */
  readonly params: check.ParamsCheck<P>
  /** The field of the params that the `Mcp-Name` header repeats (basic/transports/streamable-http). */
  readonly named?: 'name' | 'uri' | undefined
  /** May answer `input_required` (basic/patterns/mrtr). */
  readonly canRequireInput?: true | undefined
  /** May change something; every other method only reads. */
  readonly hasEffects?: true | undefined
  /** Its complete results carry `ttlMs` and `cacheScope` (server/utilities/caching). */
  readonly cached?: true | undefined
  /** Its response is a long-lived stream of notifications (basic/patterns/subscriptions). */
  readonly isStreaming?: true | undefined
  /** The server capability that it belongs to; absent for methods of every server. */
  readonly capability?: 'tools' | 'prompts' | 'resources' | 'completions' | undefined
}

/** The params and the results of each method. */
export interface MethodTypes {
  'server/discover': { params: RequestParams; result: DiscoverResult }
  'tools/list': { params: PaginatedRequestParams; result: ListToolsResult }
  'tools/call': { params: CallToolRequestParams; result: CallToolResult | InputRequiredResult }
  'prompts/list': { params: PaginatedRequestParams; result: ListPromptsResult }
  'prompts/get': { params: GetPromptRequestParams; result: GetPromptResult | InputRequiredResult }
  'resources/list': { params: PaginatedRequestParams; result: resources.ListResourcesResult }
  'resources/templates/list': { params: PaginatedRequestParams; result: resources.ListResourceTemplatesResult }
  'resources/read': {
    params: resources.ReadResourceRequestParams
    result: resources.ReadResourceResult | InputRequiredResult
  }
  'completion/complete': { params: CompleteRequestParams; result: CompleteResult }
  'subscriptions/listen': { params: SubscriptionsListenRequestParams; result: SubscriptionsListenResult }
}

/** The name of a method that a client may call. */
export type Method = keyof MethodTypes

/** Every method of this revision. No other file compares method names. */
export const methods = {
  'server/discover': { params: check.requestParams, cached: true },
  'tools/list': { params: check.paginatedRequestParams, cached: true, capability: 'tools' },
  'tools/call': {
    params: check.callToolRequestParams,
    named: 'name',
    canRequireInput: true,
    hasEffects: true,
    capability: 'tools',
  },
  'prompts/list': { params: check.paginatedRequestParams, cached: true, capability: 'prompts' },
  'prompts/get': { params: check.getPromptRequestParams, named: 'name', canRequireInput: true, capability: 'prompts' },
  'resources/list': { params: check.paginatedRequestParams, cached: true, capability: 'resources' },
  'resources/templates/list': { params: check.paginatedRequestParams, cached: true, capability: 'resources' },
  'resources/read': {
    params: check.readResourceRequestParams,
    named: 'uri',
    canRequireInput: true,
    cached: true,
    capability: 'resources',
  },
  'completion/complete': { params: check.completeRequestParams, capability: 'completions' },
  'subscriptions/listen': { params: check.subscriptionsListenRequestParams, isStreaming: true },
} as const satisfies { readonly [M in Method]: MethodRow<MethodTypes[M]['params']> }

const rowsByMethod: ReadonlyMap<string, MethodRow> = new Map(Object.entries(methods))

/** Returns the row of a method by a peer's name for it; `undefined` for an unknown method. */
export function findMethodRow(method: string): MethodRow | undefined {
  return rowsByMethod.get(method)
}
