import type {
  CompleteResult,
  DiscoverResult,
  JsonObject,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  SubscriptionsListenResult,
} from '@x/schema'
import * as validators from '@x/schema/zod'
import type { AskingResults } from '../rounds/asked.ts'

/** What each method that this client calls answers when it is complete. */
export interface CompleteResults extends AskingResults {
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

// The complete results alone: a validator that also takes input requests would let a damaged result pass as one.
const table: { readonly [M in ClientMethod]: validators.Validator } = {
  'server/discover': validators.discoverResult,
  'tools/list': validators.listToolsResult,
  'tools/call': validators.callToolResult,
  'prompts/list': validators.listPromptsResult,
  'prompts/get': validators.getPromptResult,
  'resources/list': validators.listResourcesResult,
  'resources/templates/list': validators.listResourceTemplatesResult,
  'resources/read': validators.readResourceResult,
  'completion/complete': validators.completeResult,
  'subscriptions/listen': validators.subscriptionsListenResult,
}

/** Either the result with its type, or where and why it is not one. */
export type Checked<M extends ClientMethod> = { readonly result: CompleteResults[M] } | { readonly issue: string }

/** Checks a complete result against the specification's type; unknown fields stay. */
export function checkResult<M extends ClientMethod>(method: M, result: JsonObject): Checked<M> {
  const issue = validators.issueOf(table[method], result)
  // The validator of this very method has accepted the value; the original is kept, because its text may be shared.
  if (issue === undefined) return { result: result as unknown as CompleteResults[M] }
  return { issue: `${issue.path || 'result'}: ${issue.message}` }
}
