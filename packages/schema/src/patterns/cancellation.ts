import { type NotificationMetaObject, notificationMetaObject } from '../basic/meta.ts'
import { type RequestId, requestId } from '../basic/rpc.ts'
import { optional, type Shape, shape, string } from '../basic/shape.ts'

/** Params of a cancellation (basic/patterns/cancellation). */
export type CancelledNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /**
   * Which request to cancel. A client names one of its own. A server names the `subscriptions/listen` request that it
   * ends.
   */
  readonly requestId: RequestId
  /** Why, for logs and people. */
  readonly reason?: string | undefined
}

export const cancelledNotificationParams: Shape<CancelledNotificationParams> = shape<CancelledNotificationParams>({
  _meta: optional(notificationMetaObject),
  requestId,
  reason: optional(string),
})
