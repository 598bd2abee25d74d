import { type NotificationMetaObject, notificationMetaObject } from '../basic/meta.ts'
import { jsonrpc, type RequestId, requestId } from '../basic/rpc.ts'
import { optional, shape, string, literal } from '../basic/shape.ts'

/** The params of a cancellation (basic/patterns/cancellation). */
export type CancelledNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /**
   * The id of the request to cancel. A client names one of its own requests. A server names the `subscriptions/listen`
   * request that it ends.
   */
  readonly requestId: RequestId
  /** The reason for the cancellation, for logs and people. */
  readonly reason?: string | undefined
}

/** The shape of {@link CancelledNotificationParams}. */
export const cancelledNotificationParams = shape<CancelledNotificationParams>({
  _meta: optional(notificationMetaObject),
  requestId,
  reason: optional(string),
})

/**
 * Cancels a request. A client sends this notification for any of its requests. A server sends it only over stdio, to
 * end a subscription (basic/patterns/cancellation).
 */
export type CancelledNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/cancelled'
  readonly params: CancelledNotificationParams
}

/** The shape of {@link CancelledNotification}. */
export const cancelledNotification = shape<CancelledNotification>({
  jsonrpc,
  method: literal('notifications/cancelled'),
  params: cancelledNotificationParams,
})
