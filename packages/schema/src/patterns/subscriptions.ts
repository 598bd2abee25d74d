import { isJsonObject } from '@x/core'
import { metaKeys } from '../basic/meta-keys.ts'
import { implementation } from '../basic/implementation.ts'
import {
  type NotificationMetaObject,
  notificationMetaObject,
  type RequestMetaObject,
  requestMetaObject,
  type ResultMetaObject,
} from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { type RequestId, requestId, type RpcNotification } from '../basic/rpc.ts'
import { boolean, list, looseShape, optional, type Shape, shape, string } from '../basic/shape.ts'

/**
 * The kinds of notifications that a client subscribes to. The server sends no other kinds
 * (basic/patterns/subscriptions).
 */
export type SubscriptionFilter = {
  readonly toolsListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  /** The URIs of the resources to watch. */
  readonly resourceSubscriptions?: readonly string[] | undefined
}

/** The shape of {@link SubscriptionFilter}. */
export const subscriptionFilter: Shape<SubscriptionFilter> = shape<SubscriptionFilter>({
  toolsListChanged: optional(boolean),
  promptsListChanged: optional(boolean),
  resourcesListChanged: optional(boolean),
  resourceSubscriptions: optional(list(string)),
})

/** The params of a `subscriptions/listen` request (basic/patterns/subscriptions). */
export type SubscriptionsListenRequestParams = {
  readonly _meta: RequestMetaObject
  readonly notifications: SubscriptionFilter
}

/** The shape of {@link SubscriptionsListenRequestParams}. */
export const subscriptionsListenRequestParams: Shape<SubscriptionsListenRequestParams> =
  shape<SubscriptionsListenRequestParams>({
    _meta: requestMetaObject,
    notifications: subscriptionFilter,
  })

/**
 * The params of an acknowledgement, which list the notifications that the server agreed to send
 * (basic/patterns/subscriptions).
 */
export type SubscriptionsAcknowledgedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The part of the requested filter that the server supports. */
  readonly notifications: SubscriptionFilter
}

/** The shape of {@link SubscriptionsAcknowledgedNotificationParams}. */
export const subscriptionsAcknowledgedNotificationParams: Shape<SubscriptionsAcknowledgedNotificationParams> =
  shape<SubscriptionsAcknowledgedNotificationParams>({
    _meta: optional(notificationMetaObject),
    notifications: subscriptionFilter,
  })

/** The `_meta` of a {@link SubscriptionsListenResult} (basic/patterns/subscriptions). */
export type SubscriptionsListenResultMetaObject = ResultMetaObject & {
  /** The id of the `subscriptions/listen` request whose stream ends. It equals the id of the response. */
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId
}

/** The shape of {@link SubscriptionsListenResultMetaObject}. */
export const subscriptionsListenResultMetaObject: Shape<SubscriptionsListenResultMetaObject> =
  looseShape<SubscriptionsListenResultMetaObject>({
    [metaKeys.serverInfo]: optional(implementation),
    [metaKeys.subscriptionId]: requestId,
  })

/**
 * The result with which a server ends a subscription. The client receives no result when the connection breaks
 * (basic/patterns/subscriptions).
 */
export type SubscriptionsListenResult = {
  readonly _meta: SubscriptionsListenResultMetaObject
  readonly resultType: ResultType
}

/** The shape of {@link SubscriptionsListenResult}. */
export const subscriptionsListenResult: Shape<SubscriptionsListenResult> = shape<SubscriptionsListenResult>({
  ...resultMembers,
  _meta: subscriptionsListenResultMetaObject,
})

/** Returns the id of the subscription to which a notification belongs. Undefined for a notification of no subscription. */
export function subscriptionIdOf({ params }: RpcNotification): unknown {
  const meta = params?.['_meta']
  return isJsonObject(meta) ? meta[metaKeys.subscriptionId] : undefined
}
