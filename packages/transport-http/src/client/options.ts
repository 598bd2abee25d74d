import type { Clock } from '@x/core'
import type { RpcRequest } from '@x/schema'
import type { FetchFunction } from './sender.ts'

/** Header values by name. Headers that the transport writes itself are a `TypeError`. */
export type HttpHeaders = Readonly<Record<string, string>>

/** The request that an authorizer authorizes. It is the same object each time the request is sent again. */
export interface HttpTarget {
  /** The endpoint, as it was given to the connection. */
  readonly url: URL
  /** The address of the request, if it differs from the endpoint. */
  readonly requestUrl?: URL | undefined
  readonly method: string
  /** The MCP method and the name or URI of its target, for authorizers that count attempts. */
  readonly operation?: string | undefined
  /** Aborts when the connection is closed, so that an authorizer stops waiting. */
  readonly signal: AbortSignal
}

/** Status and headers of a response. */
export interface HttpResponseHead {
  readonly status: number
  /** A header by its lower-case name. The challenges of several `WWW-Authenticate` lines are joined with commas. */
  header(name: string): string | undefined
}

/**
 * Authorizes the requests of a connection (basic/authorization). A call rejects with an error that these functions
 * throw.
 */
export interface HttpAuthorizer {
  /** Returns the headers for one request. Called each time that the request is sent. */
  headers(target: HttpTarget): HttpHeaders | Promise<HttpHeaders>
  /**
   * Called with the head of each response before its body is used. Returns `'retry'` to send the request again, which
   * is safe after 401 and 403 because the server has done nothing. A request is sent at most four times.
   */
  onResponse(head: HttpResponseHead, target: HttpTarget): 'retry' | undefined | Promise<'retry' | undefined>
}

/** The options of `connectHttp` on every platform. */
export interface HttpConnectOptions {
  /**
   * Headers to add, such as `Authorization`, or a function that returns them for each request. With a function, the
   * requests may be of several principals. A client over such a connection caches nothing unless its option `cache` is
   * a partition.
   */
  readonly headers?: HttpHeaders | ((request: RpcRequest) => HttpHeaders | Promise<HttpHeaders>) | undefined
  /** Adds headers to every request and handles 401 and 403, such as `oauth` of `@x/auth/client`. */
  readonly auth?: HttpAuthorizer | undefined
  /**
   * `false` tries each request once. By default a request is tried up to three times while no connection to the server
   * can be made, so that nothing can happen twice.
   */
  readonly retry?: boolean | undefined
  /** Bytes of one message of the server. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** Bytes of the event stream of one call. The stream of a subscription has no limit. Default 64 MiB. */
  readonly maxStreamBytes?: number | undefined
  /** Sends requests with this function instead of the platform's. It must support `redirect: 'manual'`. */
  readonly fetch?: FetchFunction | undefined
  /** The clock of timeouts and pauses. Default: the platform's. */
  readonly runtime?: Clock | undefined
}

export const connectDefaults = {
  retry: true,
  maxMessageBytes: 16 * 1024 * 1024,
  maxStreamBytes: 64 * 1024 * 1024,
} satisfies HttpConnectOptions

/** The names of the options of `connectHttp` on every platform. */
export const connectOptionNames = {
  headers: true,
  auth: true,
  retry: true,
  maxMessageBytes: true,
  maxStreamBytes: true,
  fetch: true,
  runtime: true,
} as const satisfies Record<keyof HttpConnectOptions, true>
