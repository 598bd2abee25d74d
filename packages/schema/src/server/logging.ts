import type { JsonValue } from '@x/core'
import { type LoggingLevel, loggingLevel, type NotificationMetaObject, notificationMetaObject } from '../basic/meta.ts'
import { jsonValue, optional, type Shape, shape, string } from '../basic/shape.ts'

/** The params of a log message (server/utilities/logging). */
export type LoggingMessageNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  readonly level: LoggingLevel
  /** The name of the component that logs. */
  readonly logger?: string | undefined
  /** The content of the log message, which may be any JSON value. */
  readonly data: JsonValue
}

/** The shape of {@link LoggingMessageNotificationParams}. */
export const loggingMessageNotificationParams: Shape<LoggingMessageNotificationParams> =
  shape<LoggingMessageNotificationParams>({
    _meta: optional(notificationMetaObject),
    level: loggingLevel,
    logger: optional(string),
    data: jsonValue,
  })
