import { listRootsResult } from '../client/roots.ts'
import { createMessageResult } from '../client/sampling.ts'
import { inputRequest, inputRequests } from '../patterns/mrtr.ts'
import { subscriptionsListenResult } from '../patterns/subscriptions.ts'
import { completeResult } from '../server/completion.ts'
import { discoverResult } from '../server/discover.ts'
import { getPromptResult, listPromptsResult } from '../server/prompts.ts'
import { listResourcesResult, listResourceTemplatesResult, readResourceResult } from '../server/resource-requests.ts'
import { callToolResult, listToolsResult } from '../server/tool-requests.ts'
import type { Check, Failure } from '../basic/failure.ts'
import { checkOf } from '../basic/shape.ts'
import type { Method } from './methods.ts'

const resultChecks: { readonly [M in Method]: Check } = {
  'server/discover': checkOf(discoverResult),
  'tools/list': checkOf(listToolsResult),
  'tools/call': checkOf(callToolResult),
  'prompts/list': checkOf(listPromptsResult),
  'prompts/get': checkOf(getPromptResult),
  'resources/list': checkOf(listResourcesResult),
  'resources/templates/list': checkOf(listResourceTemplatesResult),
  'resources/read': checkOf(readResourceResult),
  'completion/complete': checkOf(completeResult),
  'subscriptions/listen': checkOf(subscriptionsListenResult),
}

/**
 * Checks a method's complete result against its published type. Undefined if it is valid. Unlike `resultValidators` of
 * `@x/schema/zod`, it fills in no defaults for results of servers of an earlier revision.
 */
export function checkResult(method: Method, value: unknown): Failure | undefined {
  return resultChecks[method](value)
}

/** Checks a `CreateMessageResult` (client/sampling). Undefined if it is valid. */
export const checkCreateMessageResult: Check = checkOf(createMessageResult)

/** Checks a `ListRootsResult` (client/roots). Undefined if it is valid. */
export const checkListRootsResult: Check = checkOf(listRootsResult)

/** Checks one `InputRequest`: a form, a URL, a sampling request or a request for roots. Undefined if it is valid. */
export const checkInputRequest: Check = checkOf(inputRequest)

/** Checks `InputRequests` with any keys (basic/patterns/mrtr). Undefined if all are valid. */
export const checkInputRequests: Check = checkOf(inputRequests)
