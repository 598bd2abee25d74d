import { type Clock, type OptionTable, platformRuntime, type ResolvedOptions } from '@x/core'
import type { HttpAuthorizer, HttpHeaders } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import type { FetchFunction } from './sender.ts'

export type { HttpAuthorizer, HttpHeaders, HttpResponseHead, HttpTarget } from '@x/exchange'

/** Options of `connectHttp` on every platform. */
export interface HttpConnectOptions {
  /**
   * Headers to add, such as `Authorization`, or a function that returns headers for each request. With a function,
   * different requests may belong to different principals, so a client on such a connection caches nothing unless its
   * option `cache` is a partition.
   */
  readonly headers?: HttpHeaders | ((request: RpcRequest) => HttpHeaders | Promise<HttpHeaders>) | undefined
  /** Adds headers to every request, and handles 401 and 403. An example is `oauth` of `@x/auth/client`. */
  readonly auth?: HttpAuthorizer | undefined
  /**
   * `false` disables the repetitions of the connection. A client still sends again within its `maxResendMs`, and an
   * authorizer may have a request sent again. By default a request is sent up to three times while no connection to the
   * server can be made, so the server never receives it twice.
   */
  readonly retry?: boolean | undefined
  /** Limit in bytes for one message from the server. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** Limit in bytes for one call's event stream. A subscription's stream has no limit. Default 64 MiB. */
  readonly maxStreamBytes?: number | undefined
  /**
   * Sends the requests. Default: undici on Node, and `globalThis.fetch` on other platforms. Must support
   * `redirect: 'manual'`.
   */
  readonly fetch?: FetchFunction | undefined
  /** Clock for timeouts and pauses. Default: the platform's. */
  readonly runtime?: Clock | undefined
}

export const connectOptionTable = {
  headers: { default: {} },
  auth: undefined,
  retry: true,
  // limit: `maxMessageBytes` of `connectHttp` | bytes | a message of a server | the call is rejected
  maxMessageBytes: 16 * 1024 * 1024,
  // limit: `maxStreamBytes` of `connectHttp` | bytes | a stream of a call | the call is rejected
  maxStreamBytes: 64 * 1024 * 1024,
  fetch: undefined,
  runtime: { default: platformRuntime },
} satisfies OptionTable<HttpConnectOptions>

export type ResolvedConnectOptions = ResolvedOptions<HttpConnectOptions, typeof connectOptionTable>
