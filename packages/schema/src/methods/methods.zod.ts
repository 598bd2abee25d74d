import type * as z from 'zod/mini'
import { subscriptionsListenRequestParams, subscriptionsListenResult } from '../patterns/subscriptions.ts'
import { completeRequestParams, completeResult } from '../server/completion.ts'
import { discoverResult } from '../server/discover.ts'
import { paginatedRequestParams } from '../server/pagination.ts'
import { getPromptRequestParams, getPromptResult, listPromptsResult } from '../server/prompts.ts'
import * as resources from '../server/resource-requests.ts'
import { callToolRequestParams, callToolResult, listToolsResult } from '../server/tool-requests.ts'
import { requestParams } from '../basic/meta.ts'
import { zodOf } from '../basic/zod-of.ts'
import { completeResultValidator, completeOrInputRequiredValidator, fillCacheHints } from './complete-result.zod.ts'
import type { Method, MethodTypes } from './methods.ts'

/** Validate the params of each method. */
export const paramsValidators: { readonly [M in Method]: z.ZodMiniType<MethodTypes[M]['params']> } = {
  'server/discover': zodOf(requestParams),
  'tools/list': zodOf(paginatedRequestParams),
  'tools/call': zodOf(callToolRequestParams),
  'prompts/list': zodOf(paginatedRequestParams),
  'prompts/get': zodOf(getPromptRequestParams),
  'resources/list': zodOf(paginatedRequestParams),
  'resources/templates/list': zodOf(paginatedRequestParams),
  'resources/read': zodOf(resources.readResourceRequestParams),
  'completion/complete': zodOf(completeRequestParams),
  'subscriptions/listen': zodOf(subscriptionsListenRequestParams),
}

/**
 * Validate the results of each method, for clients. Unlike the validators of the published types, these accept results
 * of servers of an earlier revision: an absent `resultType` becomes `complete`, an absent or negative `ttlMs` becomes
 * 0, and an absent `cacheScope` becomes `private`. `resultType` must be `complete` or, for a method that may ask for
 * input, `input_required` (basic/index, ResultType, and server/utilities/caching).
 */
export const resultValidators: { readonly [M in Method]: z.ZodMiniType<MethodTypes[M]['result']> } = {
  'server/discover': completeResultValidator(zodOf(discoverResult), fillCacheHints),
  'tools/list': completeResultValidator(zodOf(listToolsResult), fillCacheHints),
  'tools/call': completeOrInputRequiredValidator(completeResultValidator(zodOf(callToolResult))),
  'prompts/list': completeResultValidator(zodOf(listPromptsResult), fillCacheHints),
  'prompts/get': completeOrInputRequiredValidator(completeResultValidator(zodOf(getPromptResult))),
  'resources/list': completeResultValidator(zodOf(resources.listResourcesResult), fillCacheHints),
  'resources/templates/list': completeResultValidator(zodOf(resources.listResourceTemplatesResult), fillCacheHints),
  'resources/read': completeOrInputRequiredValidator(
    completeResultValidator(zodOf(resources.readResourceResult), fillCacheHints),
  ),
  'completion/complete': completeResultValidator(zodOf(completeResult)),
  'subscriptions/listen': completeResultValidator(zodOf(subscriptionsListenResult)),
}
