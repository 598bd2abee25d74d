import type { JsonValue } from '@x/core'
import type { NotificationMetaObject } from '../basic/meta.ts'
import type { LoggingLevel } from './logging-level.ts'

/** The params of a log message (server/utilities/logging). */
export type LoggingMessageNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  readonly level: LoggingLevel
  /** The name of the component that logs. */
  readonly logger?: string | undefined
  /** The message: text, or any JSON value. */
  readonly data: JsonValue
}

/** A log message about a request that set `logLevel` (server/utilities/logging). */
export type LoggingMessageNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/message'
  readonly params: LoggingMessageNotificationParams
}
