import type { NotificationMetaObject, RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'

/** The notifications that a client subscribes to; no others are sent (basic/patterns/subscriptions). */
export type SubscriptionFilter = {
  readonly toolsListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  /** The URIs of the resources to watch. */
  readonly resourceSubscriptions?: readonly string[] | undefined
}

/** The params of a subscription (basic/patterns/subscriptions). */
export type SubscriptionsListenRequestParams = {
  readonly _meta: RequestMetaObject
  readonly notifications: SubscriptionFilter
}

/** Opens a stream of notifications that lasts until either side ends it (basic/patterns/subscriptions). */
export type SubscriptionsListenRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'subscriptions/listen'
  readonly params: SubscriptionsListenRequestParams
}

/** The notifications that the server agreed to send (basic/patterns/subscriptions). */
export type SubscriptionsAcknowledgedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The supported part of the requested filter. */
  readonly notifications: SubscriptionFilter
}

/**
 * The first message of a subscription, which confirms it with the agreed notifications (basic/patterns/subscriptions).
 */
export type SubscriptionsAcknowledgedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/subscriptions/acknowledged'
  readonly params: SubscriptionsAcknowledgedNotificationParams
}

/** The `_meta` of a {@link SubscriptionsListenResult} (basic/patterns/subscriptions). */
export type SubscriptionsListenResultMetaObject = ResultMetaObject & {
  /** The request whose stream ends; equal to the response's own id. */
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId
}

/**
 * The result of a subscription that the server ended in good order; a broken connection sends none
 * (basic/patterns/subscriptions).
 */
export type SubscriptionsListenResult = {
  readonly _meta: SubscriptionsListenResultMetaObject
  readonly resultType: ResultType
}

/** The response with a {@link SubscriptionsListenResult}. */
export type SubscriptionsListenResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: SubscriptionsListenResult
}
