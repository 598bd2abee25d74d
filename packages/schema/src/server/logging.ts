import type { JsonValue } from '../basic/json.ts'
import type { NotificationMetaObject } from '../basic/meta.ts'
import type { LoggingLevel } from './logging-level.ts'

/** What a log message says (server/utilities/logging). */
export type LoggingMessageNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  readonly level: LoggingLevel
  /** Which part of the server speaks. */
  readonly logger?: string | undefined
  /** The message: text, or anything that JSON can carry. */
  readonly data: JsonValue
}

/** A log message about a request that asked for them with `logLevel` (server/utilities/logging). */
export type LoggingMessageNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/message'
  readonly params: LoggingMessageNotificationParams
}
