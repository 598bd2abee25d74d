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

/** Which notifications a client subscribes to. The server sends no others (basic/patterns/subscriptions). */
export type SubscriptionFilter = {
  readonly toolsListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  /** URIs of the resources to watch. */
  readonly resourceSubscriptions?: readonly string[] | undefined
}

export const subscriptionFilter: Shape<SubscriptionFilter> = shape<SubscriptionFilter>({
  toolsListChanged: optional(boolean),
  promptsListChanged: optional(boolean),
  resourcesListChanged: optional(boolean),
  resourceSubscriptions: optional(list(string)),
})

/** Params of a `subscriptions/listen` request (basic/patterns/subscriptions). */
export type SubscriptionsListenRequestParams = {
  readonly _meta: RequestMetaObject
  readonly notifications: SubscriptionFilter
}

export const subscriptionsListenRequestParams: Shape<SubscriptionsListenRequestParams> =
  shape<SubscriptionsListenRequestParams>({
    _meta: requestMetaObject,
    notifications: subscriptionFilter,
  })

/** Params of an acknowledgement: which notifications the server agreed to send (basic/patterns/subscriptions). */
export type SubscriptionsAcknowledgedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** As much of the requested filter as the server supports. */
  readonly notifications: SubscriptionFilter
}

export const subscriptionsAcknowledgedNotificationParams: Shape<SubscriptionsAcknowledgedNotificationParams> =
  shape<SubscriptionsAcknowledgedNotificationParams>({
    _meta: optional(notificationMetaObject),
    notifications: subscriptionFilter,
  })

/** `_meta` of a {@link SubscriptionsListenResult} (basic/patterns/subscriptions). */
export type SubscriptionsListenResultMetaObject = ResultMetaObject & {
  /** Id of the `subscriptions/listen` request whose stream ends, which is that of the response. */
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId
}

export const subscriptionsListenResultMetaObject: Shape<SubscriptionsListenResultMetaObject> =
  looseShape<SubscriptionsListenResultMetaObject>({
    [metaKeys.serverInfo]: optional(implementation),
    [metaKeys.subscriptionId]: requestId,
  })

/**
 * A server ends a subscription with it. When the connection breaks, the client receives no result
 * (basic/patterns/subscriptions).
 */
export type SubscriptionsListenResult = {
  readonly _meta: SubscriptionsListenResultMetaObject
  readonly resultType: ResultType
}

export const subscriptionsListenResult: Shape<SubscriptionsListenResult> = shape<SubscriptionsListenResult>({
  ...resultMembers,
  _meta: subscriptionsListenResultMetaObject,
})

/** Id of the subscription that a notification belongs to. Undefined if it belongs to none. */
export function subscriptionIdOf({ params }: RpcNotification): unknown {
  const meta = params?.['_meta']
  return isJsonObject(meta) ? meta[metaKeys.subscriptionId] : undefined
}
