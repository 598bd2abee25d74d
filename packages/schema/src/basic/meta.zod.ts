import * as z from 'zod'
import { loggingLevel } from '../server/logging-level.zod.ts'
import { clientCapabilities } from './capabilities.zod.ts'
import { implementation } from './implementation.zod.ts'
import { jsonObject, jsonValue } from './json.zod.ts'
import type {
  MetaObject,
  NotificationMetaObject,
  NotificationParams,
  ProgressToken,
  RequestMetaObject,
  RequestParams,
  ResultMetaObject,
} from './meta.ts'
import { requestId } from './request-id.zod.ts'

/** Validates a {@link MetaObject}. */
export const metaObject: z.ZodType<MetaObject> = jsonObject

/** Validates a {@link ProgressToken}. */
export const progressToken: z.ZodType<ProgressToken> = z.union([z.string(), z.int()])

/** Validates a {@link RequestMetaObject}. */
export const requestMetaObject: z.ZodType<RequestMetaObject> = z
  .object({
    'io.modelcontextprotocol/protocolVersion': z.string(),
    'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
    'io.modelcontextprotocol/clientInfo': implementation.optional(),
    'io.modelcontextprotocol/logLevel': loggingLevel.optional(),
    progressToken: progressToken.optional(),
  })
  .catchall(jsonValue)

/** Validates a {@link NotificationMetaObject}. */
export const notificationMetaObject: z.ZodType<NotificationMetaObject> = z
  .object({ 'io.modelcontextprotocol/subscriptionId': requestId.optional() })
  .catchall(jsonValue)

/** Validates a {@link ResultMetaObject}. */
export const resultMetaObject: z.ZodType<ResultMetaObject> = z
  .object({ 'io.modelcontextprotocol/serverInfo': implementation.optional() })
  .catchall(jsonValue)

/** Validates a {@link RequestParams}. */
export const requestParams: z.ZodType<RequestParams> = z.looseObject({ _meta: requestMetaObject })

/** Validates a {@link NotificationParams}. */
export const notificationParams: z.ZodType<NotificationParams> = z.looseObject({
  _meta: notificationMetaObject.optional(),
})
