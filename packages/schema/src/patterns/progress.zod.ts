import * as z from 'zod/mini'
import { notificationMetaObject, progressToken } from '../basic/meta.zod.ts'
import { notificationValidator } from '../basic/rpc.zod.ts'
import type { ProgressNotification, ProgressNotificationParams } from './progress.ts'

/** Validates a {@link ProgressNotificationParams}. */
export const progressNotificationParams: z.ZodMiniType<ProgressNotificationParams> = z.looseObject({
  _meta: z.optional(notificationMetaObject),
  progressToken,
  progress: z.number(),
  total: z.optional(z.number()),
  message: z.optional(z.string()),
})

/** Validates a {@link ProgressNotification}. */
export const progressNotification: z.ZodMiniType<ProgressNotification> = notificationValidator(
  'notifications/progress',
  progressNotificationParams,
)
