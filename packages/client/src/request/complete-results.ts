import {
  checkResult,
  type CompleteResult,
  type DiscoverResult,
  type JsonObject,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type SubscriptionsListenResult,
} from '@x/schema'
import type { MultiRoundResults } from './input-required.ts'
import { describeCheckFailure } from './client-error.ts'

/** The complete result of each method that this client calls. */
export interface CompleteResults extends MultiRoundResults {
  'server/discover': DiscoverResult
  'tools/list': ListToolsResult
  'prompts/list': ListPromptsResult
  'resources/list': ListResourcesResult
  'resources/templates/list': ListResourceTemplatesResult
  'completion/complete': CompleteResult
  'subscriptions/listen': SubscriptionsListenResult
}

/** A method that this client calls. */
export type ClientMethod = keyof CompleteResults

/** The result with the type for its method, or the path and reason of the failure. */
export type CheckedResult<M extends ClientMethod> = { readonly result: CompleteResults[M] } | { readonly issue: string }

/** Checks a complete result against the type in the specification. Unknown members are kept. */
export function checkCompleteResult<M extends ClientMethod>(method: M, result: JsonObject): CheckedResult<M> {
  const failure = checkResult(method, result)
  // The cast is safe, because the check of this method has accepted the value. The original is returned and not a copy,
  // because several callers may share its text.
  if (failure === undefined) return { result: result as unknown as CompleteResults[M] }
  return { issue: describeCheckFailure(failure, 'result') }
}
