import * as z from 'zod/mini'
import { implementation } from '../basic/implementation.zod.ts'
import { jsonValue, requestId } from '../basic/json.zod.ts'
import { notificationMetaObject, requestMetaObject } from '../basic/meta.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { notificationValidator, requestValidator, responseValidator } from '../basic/rpc.zod.ts'
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
export const subscriptionFilter: z.ZodMiniType<SubscriptionFilter> = z.looseObject({
  toolsListChanged: z.optional(z.boolean()),
  promptsListChanged: z.optional(z.boolean()),
  resourcesListChanged: z.optional(z.boolean()),
  resourceSubscriptions: z.optional(z.array(z.string())),
})

/** Validates a {@link SubscriptionsListenRequestParams}. */
export const subscriptionsListenRequestParams: z.ZodMiniType<SubscriptionsListenRequestParams> = z.looseObject({
  _meta: requestMetaObject,
  notifications: subscriptionFilter,
})

/** Validates a {@link SubscriptionsListenRequest}. */
export const subscriptionsListenRequest: z.ZodMiniType<SubscriptionsListenRequest> = requestValidator(
  'subscriptions/listen',
  subscriptionsListenRequestParams,
)

/** Validates a {@link SubscriptionsAcknowledgedNotificationParams}. */
export const subscriptionsAcknowledgedNotificationParams: z.ZodMiniType<SubscriptionsAcknowledgedNotificationParams> =
  z.looseObject({ _meta: z.optional(notificationMetaObject), notifications: subscriptionFilter })

/** Validates a {@link SubscriptionsAcknowledgedNotification}. */
export const subscriptionsAcknowledgedNotification: z.ZodMiniType<SubscriptionsAcknowledgedNotification> =
  notificationValidator('notifications/subscriptions/acknowledged', subscriptionsAcknowledgedNotificationParams)

/** Validates a {@link SubscriptionsListenResultMetaObject}. */
export const subscriptionsListenResultMetaObject: z.ZodMiniType<SubscriptionsListenResultMetaObject> = z.catchall(
  z.object({
    'io.modelcontextprotocol/serverInfo': z.optional(implementation),
    'io.modelcontextprotocol/subscriptionId': requestId,
  }),
  jsonValue,
)

/** Validates a {@link SubscriptionsListenResult}. */
export const subscriptionsListenResult: z.ZodMiniType<SubscriptionsListenResult> = z.looseObject({
  ...resultShape,
  _meta: subscriptionsListenResultMetaObject,
})

/** Validates a {@link SubscriptionsListenResultResponse}. */
export const subscriptionsListenResultResponse: z.ZodMiniType<SubscriptionsListenResultResponse> =
  responseValidator(subscriptionsListenResult)
