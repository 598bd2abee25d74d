import type { JsonObject } from '@x/core'
import type { InputRequiredResult } from '../patterns/mrtr.ts'
import {
  type SubscriptionsListenRequestParams,
  subscriptionsListenRequestParams,
  type SubscriptionsListenResult,
} from '../patterns/subscriptions.ts'
import { type CompleteRequestParams, completeRequestParams, type CompleteResult } from '../server/completion.ts'
import type { DiscoverResult } from '../server/discover.ts'
import { type PaginatedRequestParams, paginatedRequestParams } from '../server/pagination.ts'
import {
  type GetPromptRequestParams,
  getPromptRequestParams,
  type GetPromptResult,
  type ListPromptsResult,
} from '../server/prompts.ts'
import * as resources from '../server/resource-requests.ts'
import {
  type CallToolRequestParams,
  callToolRequestParams,
  type CallToolResult,
  type ListToolsResult,
} from '../server/tool-requests.ts'
import { invalidParamsError } from '../basic/mcp-error.ts'
import { type RequestMetaObject, requestMetaObject, type RequestParams, requestParams } from '../basic/meta.ts'
import { checkOf, type Shape } from '../basic/shape.ts'

/** Properties of a method. */
export interface MethodRow<P = unknown> {
  /**
   * Checks the params and returns the same object. Throws `McpError(invalidParams)` with the path of an invalid part.
   */
  readonly params: (params: JsonObject | undefined) => P
  /** Field of the params that the `Mcp-Name` header repeats (basic/transports/streamable-http). */
  readonly targetParam?: 'name' | 'uri' | undefined
  /** May answer `input_required` (basic/patterns/mrtr). */
  readonly canRequireInput?: true | undefined
  /** May change something. Every other method only reads. */
  readonly hasEffects?: true | undefined
  /** Complete results have `ttlMs` and `cacheScope` (server/utilities/caching). */
  readonly isCacheable?: true | undefined
  /** The response is a long-lived stream of notifications (basic/patterns/subscriptions). */
  readonly isStreaming?: true | undefined
  /** Capability of the server that the method needs. Absent if it needs none. */
  readonly capability?: 'tools' | 'prompts' | 'resources' | 'completions' | undefined
}

/** Params and results of each method. */
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

/** A method that a client may call. */
export type Method = keyof MethodTypes

const paginatedParams = paramsCheckOf(paginatedRequestParams)

/** Every method of this revision. */
export const methods = {
  'server/discover': { params: paramsCheckOf(requestParams), isCacheable: true },
  'tools/list': { params: paginatedParams, isCacheable: true, capability: 'tools' },
  'tools/call': {
    params: paramsCheckOf(callToolRequestParams),
    targetParam: 'name',
    canRequireInput: true,
    hasEffects: true,
    capability: 'tools',
  },
  'prompts/list': { params: paginatedParams, isCacheable: true, capability: 'prompts' },
  'prompts/get': {
    params: paramsCheckOf(getPromptRequestParams),
    targetParam: 'name',
    canRequireInput: true,
    capability: 'prompts',
  },
  'resources/list': { params: paginatedParams, isCacheable: true, capability: 'resources' },
  'resources/templates/list': { params: paginatedParams, isCacheable: true, capability: 'resources' },
  'resources/read': {
    params: paramsCheckOf(resources.readResourceRequestParams),
    targetParam: 'uri',
    canRequireInput: true,
    isCacheable: true,
    capability: 'resources',
  },
  'completion/complete': { params: paramsCheckOf(completeRequestParams), capability: 'completions' },
  'subscriptions/listen': { params: paramsCheckOf(subscriptionsListenRequestParams), isStreaming: true },
} as const satisfies { readonly [M in Method]: MethodRow<MethodTypes[M]['params']> }

const rowsByMethod: ReadonlyMap<string, MethodRow> = new Map(Object.entries(methods))

/** Looks up a method that a peer named. `undefined` for an unknown one. */
export function findMethodRow(method: string): MethodRow | undefined {
  return rowsByMethod.get(method)
}

/**
 * Every notification of this revision, with the side that sends it. A server sends `notifications/cancelled` only to
 * end a `subscriptions/listen` stream (basic/patterns/cancellation).
 */
export const notificationMethods = {
  'notifications/cancelled': { sender: 'both' },
  'notifications/progress': { sender: 'server' },
  'notifications/message': { sender: 'server' },
  'notifications/subscriptions/acknowledged': { sender: 'server' },
  'notifications/tools/list_changed': { sender: 'server' },
  'notifications/prompts/list_changed': { sender: 'server' },
  'notifications/resources/list_changed': { sender: 'server' },
  'notifications/resources/updated': { sender: 'server' },
} as const satisfies { readonly [method: string]: { readonly sender: 'client' | 'server' | 'both' } }

const rowsByNotification: ReadonlyMap<string, { readonly sender: 'client' | 'server' | 'both' }> = new Map(
  Object.entries(notificationMethods),
)

/** Looks up a notification that a peer named. `undefined` for an unknown one, which a receiver ignores. */
export function findNotificationRow(method: string): { readonly sender: 'client' | 'server' | 'both' } | undefined {
  return rowsByNotification.get(method)
}

function paramsCheckOf<P>(shape: Shape<P>): MethodRow<P>['params'] {
  const checkParams = checkOf(shape, 'shallow')
  return (params) => {
    const failure = checkParams(params)
    if (failure !== undefined) throw invalidParamsError(failure)
    // The cast is safe: a shape of P describes every member of P, so the check covers them all.
    return params as P
  }
}

const requestMetaCheck = checkOf(requestMetaObject, 'shallow')

/**
 * Checks and returns the `_meta` of a request's params: version and capabilities are present, and the other reserved
 * keys are well-formed (basic/index, per-request protocol fields). Throws `McpError(invalidParams)` with the path of an
 * invalid part.
 */
export function requestMetaOf(params: JsonObject | undefined): RequestMetaObject {
  const meta = params?.['_meta']
  const failure = requestMetaCheck(meta)
  if (failure !== undefined) throw invalidParamsError(failure, '_meta')
  // The cast is safe: the check above covers every member of the type.
  return meta as RequestMetaObject
}
