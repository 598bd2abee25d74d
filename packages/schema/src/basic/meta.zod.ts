import * as z from 'zod/mini'
import { loggingLevel } from '../server/logging-level.zod.ts'
import { clientCapabilities } from './capabilities.zod.ts'
import { implementation } from './implementation.zod.ts'
import { jsonObject, jsonValue, requestId } from './json.zod.ts'
import type {
  MetaObject,
  NotificationMetaObject,
  NotificationParams,
  ProgressToken,
  RequestMetaObject,
  RequestParams,
  ResultMetaObject,
} from './meta.ts'

/** Validates a {@link MetaObject}. */
export const metaObject: z.ZodMiniType<MetaObject> = jsonObject

/** Validates a {@link ProgressToken}. */
export const progressToken: z.ZodMiniType<ProgressToken> = z.union([z.string(), z.int()])

/** Validates a {@link RequestMetaObject}. */
export const requestMetaObject: z.ZodMiniType<RequestMetaObject> = z.catchall(
  z.object({
    'io.modelcontextprotocol/protocolVersion': z.string(),
    'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
    'io.modelcontextprotocol/clientInfo': z.optional(implementation),
    'io.modelcontextprotocol/logLevel': z.optional(loggingLevel),
    progressToken: z.optional(progressToken),
  }),
  jsonValue,
)

/** Validates a {@link NotificationMetaObject}. */
export const notificationMetaObject: z.ZodMiniType<NotificationMetaObject> = z.catchall(
  z.object({ 'io.modelcontextprotocol/subscriptionId': z.optional(requestId) }),
  jsonValue,
)

/** Validates a {@link ResultMetaObject}. */
export const resultMetaObject: z.ZodMiniType<ResultMetaObject> = z.catchall(
  z.object({ 'io.modelcontextprotocol/serverInfo': z.optional(implementation) }),
  jsonValue,
)

/** Validates a {@link RequestParams}. */
export const requestParams: z.ZodMiniType<RequestParams> = z.looseObject({ _meta: requestMetaObject })

/** Validates a {@link NotificationParams}. */
export const notificationParams: z.ZodMiniType<NotificationParams> = z.looseObject({
  _meta: z.optional(notificationMetaObject),
})
