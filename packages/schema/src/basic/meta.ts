import type { LoggingLevel } from '../server/logging-level.ts'
import type { ClientCapabilities } from './capabilities.ts'
import type { Implementation } from './implementation.ts'
import type { JsonObject } from './json.ts'
import type { RequestId } from './rpc.ts'

/** What stands in a `_meta`: reserved keys of the protocol, and anybody's own under a prefix (basic/index, `_meta`). */
export type MetaObject = JsonObject

/** Pairs progress notifications with the request that asked for them (basic/patterns/progress). */
export type ProgressToken = string | number

/** The `_meta` that every request carries (basic/index, `_meta`). */
export type RequestMetaObject = MetaObject & {
  /** The revision that the request is written in; over HTTP the `MCP-Protocol-Version` header repeats it. */
  readonly 'io.modelcontextprotocol/protocolVersion': string
  /** What the client can do for this very request; nothing is remembered from the last. */
  readonly 'io.modelcontextprotocol/clientCapabilities': ClientCapabilities
  /** The client's software, unverified. */
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation | undefined
  /** The least severe log message wanted; absent means none at all. */
  readonly 'io.modelcontextprotocol/logLevel'?: LoggingLevel | undefined
  /** Asks for progress notifications under this token. */
  readonly progressToken?: ProgressToken | undefined
}

/** The `_meta` of a notification (basic/index, `_meta`). */
export type NotificationMetaObject = MetaObject & {
  /** The `subscriptions/listen` request whose stream this came on; absent elsewhere. */
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
