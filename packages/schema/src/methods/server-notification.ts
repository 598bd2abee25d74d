import { type CancelledNotification, cancelledNotification } from '../patterns/cancellation.ts'
import { type ProgressNotification, progressNotification } from '../patterns/progress.ts'
import {
  type SubscriptionsAcknowledgedNotification,
  subscriptionsAcknowledgedNotification,
} from '../patterns/subscriptions.ts'
import { type LoggingMessageNotification, loggingMessageNotification } from '../server/logging.ts'
import { type PromptListChangedNotification, promptListChangedNotification } from '../server/prompts.ts'
import {
  type ResourceListChangedNotification,
  resourceListChangedNotification,
  type ResourceUpdatedNotification,
  resourceUpdatedNotification,
} from '../server/resources.ts'
import { type ToolListChangedNotification, toolListChangedNotification } from '../server/tools.ts'
import { type Shape, union } from '../basic/shape.ts'

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

/** The shape of {@link ServerNotification}. */
export const serverNotification: Shape<ServerNotification> = union([
  cancelledNotification,
  progressNotification,
  resourceListChangedNotification,
  subscriptionsAcknowledgedNotification,
  resourceUpdatedNotification,
  promptListChangedNotification,
  toolListChangedNotification,
  loggingMessageNotification,
])
