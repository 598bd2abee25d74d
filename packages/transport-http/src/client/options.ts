import { type Clock, type OptionTable, platformRuntime, type ResolvedOptions } from '@x/core'
import type { HttpAuthorizer, HttpHeaders } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import type { FetchFunction } from './sender.ts'

export type { HttpAuthorizer, HttpHeaders, HttpResponseHead, HttpTarget } from '@x/exchange'

/** The options of `connectHttp` on every platform. */
export interface HttpConnectOptions {
  /**
   * Headers to add, such as `Authorization`, or a function that returns headers for each request. With a function,
   * different requests may belong to different principals. So a client on such a connection caches nothing, unless its
   * option `cache` is a partition.
   */
  readonly headers?: HttpHeaders | ((request: RpcRequest) => HttpHeaders | Promise<HttpHeaders>) | undefined
  /** Adds headers to every request, and handles 401 and 403. An example is `oauth` of `@x/auth/client`. */
  readonly auth?: HttpAuthorizer | undefined
  /**
   * `false` disables the repetitions of the connection. A client still sends again within its `maxResendMs`, and an
   * authorizer may have a request sent again. By default a request is sent up to three times while no connection to the
   * server can be made. The server then never receives a request twice.
   */
  readonly retry?: boolean | undefined
  /** The limit for the bytes of one message from the server. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** The limit for the bytes of one call's event stream. The stream of a subscription has no limit. Default 64 MiB. */
  readonly maxStreamBytes?: number | undefined
  /**
   * The function that sends requests. Default: undici on Node, and `globalThis.fetch` on other platforms. It must
   * support `redirect: 'manual'`.
   */
  readonly fetch?: FetchFunction | undefined
  /** The clock for timeouts and pauses. Default: the clock of the platform. */
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
