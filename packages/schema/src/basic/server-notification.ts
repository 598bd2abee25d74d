import type { CancelledNotification } from '../patterns/cancellation.ts'
import type { ProgressNotification } from '../patterns/progress.ts'
import type { SubscriptionsAcknowledgedNotification } from '../patterns/subscriptions.ts'
import type { LoggingMessageNotification } from '../server/logging.ts'
import type { PromptListChangedNotification } from '../server/prompts.ts'
import type { ResourceListChangedNotification, ResourceUpdatedNotification } from '../server/resources.ts'
import type { ToolListChangedNotification } from '../server/tools.ts'

/** Every notification that a server can send (basic/index). */
export type ServerNotification =
  | CancelledNotification
  | ProgressNotification
  | ResourceListChangedNotification
  | SubscriptionsAcknowledgedNotification
  | ResourceUpdatedNotification
  | PromptListChangedNotification
  | ToolListChangedNotification
  | LoggingMessageNotification
