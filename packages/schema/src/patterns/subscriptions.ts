import type { NotificationMetaObject, RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'

/** The notifications that a client wants; what is not asked for is not sent (basic/patterns/subscriptions). */
export type SubscriptionFilter = {
  readonly toolsListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  /** The URIs of resources whose changes are wanted. */
  readonly resourceSubscriptions?: readonly string[] | undefined
}

/** What to listen for (basic/patterns/subscriptions). */
export type SubscriptionsListenRequestParams = {
  readonly _meta: RequestMetaObject
  readonly notifications: SubscriptionFilter
}

/** Opens a stream of notifications that lasts until one side ends it (basic/patterns/subscriptions). */
export type SubscriptionsListenRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'subscriptions/listen'
  readonly params: SubscriptionsListenRequestParams
}

/** What the server agreed to send (basic/patterns/subscriptions). */
export type SubscriptionsAcknowledgedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The part of what was asked for that the server supports. */
  readonly notifications: SubscriptionFilter
}

/** The first message of a subscription: it is open, and this is what will come (basic/patterns/subscriptions). */
export type SubscriptionsAcknowledgedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/subscriptions/acknowledged'
  readonly params: SubscriptionsAcknowledgedNotificationParams
}

/** The `_meta` of a {@link SubscriptionsListenResult} (basic/patterns/subscriptions). */
export type SubscriptionsListenResultMetaObject = ResultMetaObject & {
  /** The request whose stream ends; the same as the response's own id. */
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId
}

/** The server has ended the subscription in good order; a broken connection brings none (basic/patterns/subscriptions). */
export type SubscriptionsListenResult = {
  readonly _meta: SubscriptionsListenResultMetaObject
  readonly resultType: ResultType
}

/** The response that brings a {@link SubscriptionsListenResult}. */
export type SubscriptionsListenResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: SubscriptionsListenResult
}
