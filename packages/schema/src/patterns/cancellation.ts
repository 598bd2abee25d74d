import type { NotificationMetaObject } from '../basic/meta.ts'
import type { RequestId } from '../basic/rpc.ts'

/** Which request is cancelled (basic/patterns/cancellation). */
export type CancelledNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** A request that the sender issued; from a server, the `subscriptions/listen` request that it ends. */
  readonly requestId: RequestId
  /** Why, for logs and people. */
  readonly reason?: string | undefined
}

/**
 * Nobody waits for the answer of a request any more. Clients send it; a server does on stdio alone, to end a
 * subscription (basic/patterns/cancellation).
 */
export type CancelledNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/cancelled'
  readonly params: CancelledNotificationParams
}
