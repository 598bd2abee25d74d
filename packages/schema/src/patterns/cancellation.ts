import type { NotificationMetaObject } from '../basic/meta.ts'
import type { RequestId } from '../basic/rpc.ts'

/** The params of a cancellation (basic/patterns/cancellation). */
export type CancelledNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The id of a request of the sender; from a server, the `subscriptions/listen` request that it ends. */
  readonly requestId: RequestId
  /** The reason, for logs and people. */
  readonly reason?: string | undefined
}

/**
 * Cancels a request. Clients send it; a server does on stdio alone, to end a subscription
 * (basic/patterns/cancellation).
 */
export type CancelledNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/cancelled'
  readonly params: CancelledNotificationParams
}
