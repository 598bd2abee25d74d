import * as z from 'zod/mini'
import { cancelledNotification } from '../patterns/cancellation.zod.ts'
import { progressNotification } from '../patterns/progress.zod.ts'
import { subscriptionsAcknowledgedNotification } from '../patterns/subscriptions.zod.ts'
import { loggingMessageNotification } from '../server/logging.zod.ts'
import { promptListChangedNotification } from '../server/prompts.zod.ts'
import { resourceListChangedNotification, resourceUpdatedNotification } from '../server/resources.zod.ts'
import { toolListChangedNotification } from '../server/tools.zod.ts'
import type { ServerNotification } from './server-notification.ts'

/** Validates a {@link ServerNotification}. */
export const serverNotification: z.ZodMiniType<ServerNotification> = z.union([
  cancelledNotification,
  progressNotification,
  resourceListChangedNotification,
  subscriptionsAcknowledgedNotification,
  resourceUpdatedNotification,
  promptListChangedNotification,
  toolListChangedNotification,
  loggingMessageNotification,
])
