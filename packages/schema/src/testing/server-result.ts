import type { InputRequiredResult } from '../patterns/mrtr.ts'
import type { SubscriptionsListenResult } from '../patterns/subscriptions.ts'
import type { CompleteResult } from '../server/completion.ts'
import type { DiscoverResult } from '../server/discover.ts'
import type { GetPromptResult, ListPromptsResult } from '../server/prompts.ts'
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '../server/resource-requests.ts'
import type { CallToolResult, ListToolsResult } from '../server/tool-requests.ts'
import { type Result, result } from '../basic/result.ts'
import type { Shape } from '../basic/shape.ts'

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

/** The shape of {@link ServerResult}. */
export const serverResult: Shape<ServerResult> = result
