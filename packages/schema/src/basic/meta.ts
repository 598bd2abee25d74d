import { type ClientCapabilities, clientCapabilities } from './capabilities.ts'
import { type Implementation, implementation } from './implementation.ts'
import { isJsonObject, type JsonObject } from '@x/core'
import { metaKeys } from './meta-keys.ts'
import type { RequestId } from './rpc.ts'
import { jsonObject, looseShape, optional, type Shape, shape, string, stringOrInteger, literal } from './shape.ts'

/** Members of a `_meta`: keys that the protocol reserves, and keys of others with a prefix (basic/index, `_meta`). */
export type MetaObject = JsonObject

export const metaObject: Shape<MetaObject> = jsonObject

/** `_meta` of a message's params, or an empty object if there is none. */
export function metaIn(params: JsonObject | undefined): JsonObject {
  const meta = params?.['_meta']
  return isJsonObject(meta) ? meta : {}
}

/** Pairs progress notifications with the request that asked for them (basic/patterns/progress). */
export type ProgressToken = string | number

export const progressToken: Shape<ProgressToken> = stringOrInteger

/** Levels of log messages, from the least to the most severe. */
export const loggingLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** How severe a log message is. The levels are those of syslog, RFC 5424 (server/utilities/logging). */
export type LoggingLevel = (typeof loggingLevels)[number]

export const loggingLevel = literal(...loggingLevels)

/** Position of a level in {@link loggingLevels}. -1 for a value that is no level. */
export function severityOf(level: unknown): number {
  return loggingLevels.findIndex((knownLevel) => knownLevel === level)
}

/** `_meta` of a request, which every request has (basic/index, `_meta`). */
export type RequestMetaObject = MetaObject & {
  /** Protocol revision of the request. Over HTTP the `MCP-Protocol-Version` header repeats it. */
  readonly 'io.modelcontextprotocol/protocolVersion': string
  /** Capabilities of the client for this request. A server does not reuse those of earlier requests. */
  readonly 'io.modelcontextprotocol/clientCapabilities': ClientCapabilities
  /** How the client describes its own software. It is unverified. */
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation | undefined
  /** Least severe level of the log messages that the client wants. Absent means that it wants none. */
  readonly 'io.modelcontextprotocol/logLevel'?: LoggingLevel | undefined
  /** Token for progress notifications of this request. Absent means that the client wants none. */
  readonly progressToken?: ProgressToken | undefined
}

export const requestMetaObject = looseShape<RequestMetaObject>({
  [metaKeys.protocolVersion]: string,
  [metaKeys.clientCapabilities]: clientCapabilities,
  [metaKeys.clientInfo]: optional(implementation),
  [metaKeys.logLevel]: optional(loggingLevel),
  progressToken: optional(progressToken),
})

/** `_meta` of a notification (basic/index, `_meta`). */
export type NotificationMetaObject = MetaObject & {
  /**
   * Id of the `subscriptions/listen` request whose stream contains this notification. Absent on other notifications.
   */
  readonly 'io.modelcontextprotocol/subscriptionId'?: RequestId | undefined
}

export const notificationMetaObject = looseShape<NotificationMetaObject>({
  [metaKeys.subscriptionId]: optional(stringOrInteger),
})

/** `_meta` of a result (basic/index, `_meta`). */
export type ResultMetaObject = MetaObject & {
  /** How the server describes its own software. It is unverified. */
  readonly 'io.modelcontextprotocol/serverInfo'?: Implementation | undefined
}

/** Shape of {@link ResultMetaObject}. */
export const resultMetaObject = looseShape<ResultMetaObject>({
  [metaKeys.serverInfo]: optional(implementation),
})

/** Params that every request has (basic/index). */
export type RequestParams = {
  readonly _meta: RequestMetaObject
}

export const requestParams = shape<RequestParams>({ _meta: requestMetaObject })

/** Params that every notification may have (basic/index). */
export type NotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
}

export const notificationParams = shape<NotificationParams>({ _meta: optional(notificationMetaObject) })
