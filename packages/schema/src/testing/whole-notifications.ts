/** The notifications of the published schema, as whole messages. Only tests use them. */

import { type CancelledNotificationParams, cancelledNotificationParams } from '../patterns/cancellation.ts'
import { jsonrpc, type RpcNotification } from '../basic/rpc.ts'
import { jsonObject, literal, optional, type Shape, shape, string, union } from '../basic/shape.ts'
import { type LoggingMessageNotificationParams, loggingMessageNotificationParams } from '../server/logging.ts'
import { type NotificationParams, notificationParams } from '../basic/meta.ts'
import { type ProgressNotificationParams, progressNotificationParams } from '../patterns/progress.ts'
import { type ResourceUpdatedNotificationParams, resourceUpdatedNotificationParams } from '../server/resources.ts'
import {
  type SubscriptionsAcknowledgedNotificationParams,
  subscriptionsAcknowledgedNotificationParams,
} from '../patterns/subscriptions.ts'

/** A notification without `jsonrpc` (basic/index). The specification calls it `Notification`. */
export type RpcNotificationFields = Pick<RpcNotification, 'method' | 'params'>

export const rpcNotificationFields = shape<RpcNotificationFields>({ method: string, params: optional(jsonObject) })

/**
 * Cancels a request. A client sends this notification for any of its requests. A server sends it only over stdio, to
 * end a subscription (basic/patterns/cancellation).
 */
export type CancelledNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/cancelled'
  readonly params: CancelledNotificationParams
}

export const cancelledNotification = shape<CancelledNotification>({
  jsonrpc,
  method: literal('notifications/cancelled'),
  params: cancelledNotificationParams,
})

/** Reports the progress of a request that has a progress token (basic/patterns/progress). */
export type ProgressNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/progress'
  readonly params: ProgressNotificationParams
}

export const progressNotification = shape<ProgressNotification>({
  jsonrpc,
  method: literal('notifications/progress'),
  params: progressNotificationParams,
})

/** A log message that a server sends while it handles a request with a `logLevel` (server/utilities/logging). */
export type LoggingMessageNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/message'
  readonly params: LoggingMessageNotificationParams
}

export const loggingMessageNotification = shape<LoggingMessageNotification>({
  jsonrpc,
  method: literal('notifications/message'),
  params: loggingMessageNotificationParams,
})

/**
 * Comes first on the stream of a subscription: confirms it, and lists the notifications that the server will send
 * (basic/patterns/subscriptions).
 */
export type SubscriptionsAcknowledgedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/subscriptions/acknowledged'
  readonly params: SubscriptionsAcknowledgedNotificationParams
}

export const subscriptionsAcknowledgedNotification = shape<SubscriptionsAcknowledgedNotification>({
  jsonrpc,
  method: literal('notifications/subscriptions/acknowledged'),
  params: subscriptionsAcknowledgedNotificationParams,
})

/** Notifies subscribers that the list of prompts has changed (server/prompts, list changed notification). */
export type PromptListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/prompts/list_changed'
  readonly params?: NotificationParams | undefined
}

export const promptListChangedNotification = shape<PromptListChangedNotification>({
  jsonrpc,
  method: literal('notifications/prompts/list_changed'),
  params: optional(notificationParams),
})

/** Notifies subscribers that the list of resources has changed (server/resources). */
export type ResourceListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/resources/list_changed'
  readonly params?: NotificationParams | undefined
}

export const resourceListChangedNotification = shape<ResourceListChangedNotification>({
  jsonrpc,
  method: literal('notifications/resources/list_changed'),
  params: optional(notificationParams),
})

/** Notifies subscribers that a resource has changed (server/resources). */
export type ResourceUpdatedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/resources/updated'
  readonly params: ResourceUpdatedNotificationParams
}

export const resourceUpdatedNotification = shape<ResourceUpdatedNotification>({
  jsonrpc,
  method: literal('notifications/resources/updated'),
  params: resourceUpdatedNotificationParams,
})

/** Notifies subscribers that the list of tools has changed (server/tools, list changed notification). */
export type ToolListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/tools/list_changed'
  readonly params?: NotificationParams | undefined
}

export const toolListChangedNotification = shape<ToolListChangedNotification>({
  jsonrpc,
  method: literal('notifications/tools/list_changed'),
  params: optional(notificationParams),
})

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
