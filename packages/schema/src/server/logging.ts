import type { JsonValue } from '@x/core'
import { type LoggingLevel, loggingLevel, type NotificationMetaObject, notificationMetaObject } from '../basic/meta.ts'
import { jsonValue, optional, type Shape, shape, string } from '../basic/shape.ts'

/** A log message (server/utilities/logging). */
export type LoggingMessageNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  readonly level: LoggingLevel
  /** Which component logs. */
  readonly logger?: string | undefined
  /** What is logged: any JSON value. */
  readonly data: JsonValue
}

export const loggingMessageNotificationParams: Shape<LoggingMessageNotificationParams> =
  shape<LoggingMessageNotificationParams>({
    _meta: optional(notificationMetaObject),
    level: loggingLevel,
    logger: optional(string),
    data: jsonValue,
  })
