import type * as z from 'zod/mini'
import { subscriptionsListenRequestParams, subscriptionsListenResult } from '../patterns/subscriptions.zod.ts'
import { completeRequestParams, completeResult } from '../server/completion.zod.ts'
import { discoverResult } from '../server/discover.zod.ts'
import { paginatedRequestParams } from '../server/pagination.zod.ts'
import { getPromptRequestParams, getPromptResult, listPromptsResult } from '../server/prompts.zod.ts'
import * as resources from '../server/resource-requests.zod.ts'
import { callToolRequestParams, callToolResult, listToolsResult } from '../server/tool-requests.zod.ts'
import { requestParams } from '../basic/meta.zod.ts'
import { completeResultValidator, completeOrInputRequiredValidator, fillCacheHints } from './complete-result.zod.ts'
import type { Method, MethodTypes } from './methods.ts'

/** Validates the params of a method's requests. */
export const paramsValidators: { readonly [M in Method]: z.ZodMiniType<MethodTypes[M]['params']> } = {
  'server/discover': requestParams,
  'tools/list': paginatedRequestParams,
  'tools/call': callToolRequestParams,
  'prompts/list': paginatedRequestParams,
  'prompts/get': getPromptRequestParams,
  'resources/list': paginatedRequestParams,
  'resources/templates/list': paginatedRequestParams,
  'resources/read': resources.readResourceRequestParams,
  'completion/complete': completeRequestParams,
  'subscriptions/listen': subscriptionsListenRequestParams,
}

/**
 * Validates a method's results as a client may act on them. Unlike the validators of the published types, these take
 * results of servers of an earlier revision: an absent `resultType` becomes `complete`, an absent or negative `ttlMs`
 * 0, an absent `cacheScope` `private`. Any other `resultType` than `complete`, or `input_required` where the method may
 * ask for input, is refused (basic/index, ResultType; server/utilities/caching).
 */
export const resultValidators: { readonly [M in Method]: z.ZodMiniType<MethodTypes[M]['result']> } = {
  'server/discover': completeResultValidator(discoverResult, fillCacheHints),
  'tools/list': completeResultValidator(listToolsResult, fillCacheHints),
  'tools/call': completeOrInputRequiredValidator(completeResultValidator(callToolResult)),
  'prompts/list': completeResultValidator(listPromptsResult, fillCacheHints),
  'prompts/get': completeOrInputRequiredValidator(completeResultValidator(getPromptResult)),
  'resources/list': completeResultValidator(resources.listResourcesResult, fillCacheHints),
  'resources/templates/list': completeResultValidator(resources.listResourceTemplatesResult, fillCacheHints),
  'resources/read': completeOrInputRequiredValidator(
    completeResultValidator(resources.readResourceResult, fillCacheHints),
  ),
  'completion/complete': completeResultValidator(completeResult),
  'subscriptions/listen': completeResultValidator(subscriptionsListenResult),
}
