import * as z from 'zod'
import { implementation } from '../basic/implementation.zod.ts'
import { jsonValue } from '../basic/json.zod.ts'
import { notificationMetaObject, requestMetaObject } from '../basic/meta.zod.ts'
import { requestId } from '../basic/request-id.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { notificationOf, requestOf, responseOf } from '../basic/rpc.zod.ts'
import type {
  SubscriptionFilter,
  SubscriptionsAcknowledgedNotification,
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequest,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
  SubscriptionsListenResultMetaObject,
  SubscriptionsListenResultResponse,
} from './subscriptions.ts'

/** Validates a {@link SubscriptionFilter}. */
export const subscriptionFilter: z.ZodType<SubscriptionFilter> = z.looseObject({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).optional(),
})

/** Validates a {@link SubscriptionsListenRequestParams}. */
export const subscriptionsListenRequestParams: z.ZodType<SubscriptionsListenRequestParams> = z.looseObject({
  _meta: requestMetaObject,
  notifications: subscriptionFilter,
})

/** Validates a {@link SubscriptionsListenRequest}. */
export const subscriptionsListenRequest: z.ZodType<SubscriptionsListenRequest> = requestOf(
  'subscriptions/listen',
  subscriptionsListenRequestParams,
)

/** Validates a {@link SubscriptionsAcknowledgedNotificationParams}. */
export const subscriptionsAcknowledgedNotificationParams: z.ZodType<SubscriptionsAcknowledgedNotificationParams> =
  z.looseObject({ _meta: notificationMetaObject.optional(), notifications: subscriptionFilter })

/** Validates a {@link SubscriptionsAcknowledgedNotification}. */
export const subscriptionsAcknowledgedNotification: z.ZodType<SubscriptionsAcknowledgedNotification> = notificationOf(
  'notifications/subscriptions/acknowledged',
  subscriptionsAcknowledgedNotificationParams,
)

/** Validates a {@link SubscriptionsListenResultMetaObject}. */
export const subscriptionsListenResultMetaObject: z.ZodType<SubscriptionsListenResultMetaObject> = z
  .object({
    'io.modelcontextprotocol/serverInfo': implementation.optional(),
    'io.modelcontextprotocol/subscriptionId': requestId,
  })
  .catchall(jsonValue)

/** Validates a {@link SubscriptionsListenResult}. */
export const subscriptionsListenResult: z.ZodType<SubscriptionsListenResult> = z.looseObject({
  ...resultShape,
  _meta: subscriptionsListenResultMetaObject,
})

/** Validates a {@link SubscriptionsListenResultResponse}. */
export const subscriptionsListenResultResponse: z.ZodType<SubscriptionsListenResultResponse> =
  responseOf(subscriptionsListenResult)
