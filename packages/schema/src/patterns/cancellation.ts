import { type NotificationMetaObject, notificationMetaObject } from '../basic/meta.ts'
import { type RequestId, requestId } from '../basic/rpc.ts'
import { optional, type Shape, shape, string } from '../basic/shape.ts'

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
export const cancelledNotificationParams: Shape<CancelledNotificationParams> = shape<CancelledNotificationParams>({
  _meta: optional(notificationMetaObject),
  requestId,
  reason: optional(string),
})
