import type { Log } from '@x/core'
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
import { omitInvalidItems } from '@x/schema/internal'
import type { MultiRoundResults } from './input-required.ts'
import { describeCheckFailure } from './client-error.ts'

export interface CompleteResults extends MultiRoundResults {
  'server/discover': DiscoverResult
  'tools/list': ListToolsResult
  'prompts/list': ListPromptsResult
  'resources/list': ListResourcesResult
  'resources/templates/list': ListResourceTemplatesResult
  'completion/complete': CompleteResult
  'subscriptions/listen': SubscriptionsListenResult
}

export type ClientMethod = keyof CompleteResults

/** A result with its method's type, or the path and reason of the failure. */
export type CheckedResult<M extends ClientMethod> = { readonly result: CompleteResults[M] } | { readonly issue: string }

/**
 * Checks a complete result against its type in the specification. Unknown members are kept, and invalid items of a list
 * left out, which the log says.
 */
export function checkCompleteResult<M extends ClientMethod>(
  method: M,
  result: JsonObject,
  log?: Log,
): CheckedResult<M> {
  const failure = checkResult(method, result)
  // The cast is safe: this method's check has accepted the value. It is the original and no copy, because several
  // callers may share its text.
  if (failure === undefined) return { result: result as unknown as CompleteResults[M] }
  const rest = omitInvalidItems(method, result, failure)
  if (rest === undefined) return { issue: describeCheckFailure(failure, 'result') }
  const message = `${rest.omitted} left out: ${describeCheckFailure(failure)}`
  log?.({ level: 'warn', code: 'item_refused', method, message })
  return { result: rest.result as unknown as CompleteResults[M] }
}
