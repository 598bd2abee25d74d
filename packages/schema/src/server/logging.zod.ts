import * as z from 'zod/mini'
import { jsonValue } from '../basic/json.zod.ts'
import { notificationMetaObject } from '../basic/meta.zod.ts'
import { notificationValidator } from '../basic/rpc.zod.ts'
import { loggingLevel } from './logging-level.zod.ts'
import type { LoggingMessageNotification, LoggingMessageNotificationParams } from './logging.ts'

/** Validates a {@link LoggingMessageNotificationParams}. */
export const loggingMessageNotificationParams: z.ZodMiniType<LoggingMessageNotificationParams> = z.looseObject({
  _meta: z.optional(notificationMetaObject),
  level: loggingLevel,
  logger: z.optional(z.string()),
  data: jsonValue,
})

/** Validates a {@link LoggingMessageNotification}. */
export const loggingMessageNotification: z.ZodMiniType<LoggingMessageNotification> = notificationValidator(
  'notifications/message',
  loggingMessageNotificationParams,
)
