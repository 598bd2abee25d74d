import * as z from 'zod'
import { jsonValue } from '../basic/json.zod.ts'
import { notificationMetaObject } from '../basic/meta.zod.ts'
import { notificationOf } from '../basic/rpc.zod.ts'
import { loggingLevel } from './logging-level.zod.ts'
import type { LoggingMessageNotification, LoggingMessageNotificationParams } from './logging.ts'

/** Validates a {@link LoggingMessageNotificationParams}. */
export const loggingMessageNotificationParams: z.ZodType<LoggingMessageNotificationParams> = z.looseObject({
  _meta: notificationMetaObject.optional(),
  level: loggingLevel,
  logger: z.string().optional(),
  data: jsonValue,
})

/** Validates a {@link LoggingMessageNotification}. */
export const loggingMessageNotification: z.ZodType<LoggingMessageNotification> = notificationOf(
  'notifications/message',
  loggingMessageNotificationParams,
)
