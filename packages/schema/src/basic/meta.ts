import { type ClientCapabilities, clientCapabilities } from './capabilities.ts'
import { type Implementation, implementation } from './implementation.ts'
import type { JsonObject } from '@x/core'
import { metaKeys } from './meta-keys.ts'
import type { RequestId } from './rpc.ts'
import { jsonObject, looseShape, optional, type Shape, shape, string, stringOrInteger, literal } from './shape.ts'

/**
 * The members of a `_meta`: the keys that the protocol reserves, and keys of others with a prefix (basic/index,
 * `_meta`).
 */
export type MetaObject = JsonObject

/** The shape of {@link MetaObject}. */
export const metaObject: Shape<MetaObject> = jsonObject

/** The token that pairs progress notifications with the request that asked for them (basic/patterns/progress). */
export type ProgressToken = string | number

/** The shape of {@link ProgressToken}. */
export const progressToken: Shape<ProgressToken> = stringOrInteger

/** The levels of log messages, from the least to the most severe. */
export const loggingLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** The severity of a log message. The levels are those of syslog, RFC 5424 (server/utilities/logging). */
export type LoggingLevel = (typeof loggingLevels)[number]

/** The shape of {@link LoggingLevel}. */
export const loggingLevel = literal(...loggingLevels)

/** Returns the position of a level in {@link loggingLevels}. Returns -1 for a value that is not a level. */
export function severityOf(level: unknown): number {
  return loggingLevels.findIndex((knownLevel) => knownLevel === level)
}

/** The `_meta` of a request, which every request has (basic/index, `_meta`). */
export type RequestMetaObject = MetaObject & {
  /** The protocol revision of the request. Over HTTP the `MCP-Protocol-Version` header repeats it. */
  readonly 'io.modelcontextprotocol/protocolVersion': string
  /** The client's capabilities for this request. A server does not reuse the capabilities of earlier requests. */
  readonly 'io.modelcontextprotocol/clientCapabilities': ClientCapabilities
  /** The client's own description of its software. It is unverified. */
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation | undefined
  /** The least severe level of the log messages that the client wants. Absent means that it wants no log messages. */
  readonly 'io.modelcontextprotocol/logLevel'?: LoggingLevel | undefined
  /**
   * The token for the progress notifications of this request. Absent means that the client wants no such notifications.
   */
  readonly progressToken?: ProgressToken | undefined
}

/** The shape of {@link RequestMetaObject}. */
export const requestMetaObject = looseShape<RequestMetaObject>({
  [metaKeys.protocolVersion]: string,
  [metaKeys.clientCapabilities]: clientCapabilities,
  [metaKeys.clientInfo]: optional(implementation),
  [metaKeys.logLevel]: optional(loggingLevel),
  progressToken: optional(progressToken),
})

/** The `_meta` of a notification (basic/index, `_meta`). */
export type NotificationMetaObject = MetaObject & {
  /**
   * The id of the `subscriptions/listen` request whose stream contains this notification. Absent on other
   * notifications.
   */
  readonly 'io.modelcontextprotocol/subscriptionId'?: RequestId | undefined
}

/** The shape of {@link NotificationMetaObject}. */
export const notificationMetaObject = looseShape<NotificationMetaObject>({
  [metaKeys.subscriptionId]: optional(stringOrInteger),
})

/** The `_meta` of a result (basic/index, `_meta`). */
export type ResultMetaObject = MetaObject & {
  /** The server's own description of its software. It is unverified. */
  readonly 'io.modelcontextprotocol/serverInfo'?: Implementation | undefined
}

/** The shape of {@link ResultMetaObject}. */
export const resultMetaObject = looseShape<ResultMetaObject>({
  [metaKeys.serverInfo]: optional(implementation),
})

/** The params that every request has (basic/index). */
export type RequestParams = {
  readonly _meta: RequestMetaObject
}

/** The shape of {@link RequestParams}. */
export const requestParams = shape<RequestParams>({ _meta: requestMetaObject })

/** The params that every notification may have (basic/index). */
export type NotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
}

/** The shape of {@link NotificationParams}. */
export const notificationParams = shape<NotificationParams>({ _meta: optional(notificationMetaObject) })
