import * as z from 'zod'
import { notificationMetaObject, progressToken } from '../basic/meta.zod.ts'
import { notificationOf } from '../basic/rpc.zod.ts'
import type { ProgressNotification, ProgressNotificationParams } from './progress.ts'

/** Validates a {@link ProgressNotificationParams}. */
export const progressNotificationParams: z.ZodType<ProgressNotificationParams> = z.looseObject({
  _meta: notificationMetaObject.optional(),
  progressToken,
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
})

/** Validates a {@link ProgressNotification}. */
export const progressNotification: z.ZodType<ProgressNotification> = notificationOf(
  'notifications/progress',
  progressNotificationParams,
)
