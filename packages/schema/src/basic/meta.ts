import type { LoggingLevel } from '../server/logging-level.ts'
import type { ClientCapabilities } from './capabilities.ts'
import type { Implementation } from './implementation.ts'
import type { JsonObject } from '@x/core'
import type { RequestId } from './rpc.ts'

/** The members of a `_meta`: reserved keys of the protocol, and prefixed keys of others (basic/index, `_meta`). */
export type MetaObject = JsonObject

/** Pairs progress notifications with the request that asked for them (basic/patterns/progress). */
export type ProgressToken = string | number

/** The `_meta` that every request carries (basic/index, `_meta`). */
export type RequestMetaObject = MetaObject & {
  /** The protocol revision of the request; over HTTP the `MCP-Protocol-Version` header repeats it. */
  readonly 'io.modelcontextprotocol/protocolVersion': string
  /** The client's capabilities for this request; nothing is remembered from earlier requests. */
  readonly 'io.modelcontextprotocol/clientCapabilities': ClientCapabilities
  /** The client's software, unverified. */
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation | undefined
  /** The least severe level of log messages wanted; absent means none. */
  readonly 'io.modelcontextprotocol/logLevel'?: LoggingLevel | undefined
  /** Asks for progress notifications under this token. */
  readonly progressToken?: ProgressToken | undefined
}

/** The `_meta` of a notification (basic/index, `_meta`). */
export type NotificationMetaObject = MetaObject & {
  /** The id of the `subscriptions/listen` request whose stream carries this; absent elsewhere. */
  readonly 'io.modelcontextprotocol/subscriptionId'?: RequestId | undefined
}

/** The `_meta` of a result (basic/index, `_meta`). */
export type ResultMetaObject = MetaObject & {
  /** The server's software, unverified. */
  readonly 'io.modelcontextprotocol/serverInfo'?: Implementation | undefined
}

/** The params that every request has (basic/index). */
export type RequestParams = {
  readonly _meta: RequestMetaObject
}

/** The params that every notification may have (basic/index). */
export type NotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
}
