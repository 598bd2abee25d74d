import type { Clock } from '@x/core'
import type { ParseBounds, RpcRequest } from '@x/schema'
import type { FetchFunction } from './sender.ts'

/** Header values by name. The names that the protocol or HTTP itself writes are refused. */
export type HttpHeaders = Readonly<Record<string, string>>

/** One request that an authorizer is asked about: the same object each time the request is sent again. */
export interface HttpTarget {
  /** The endpoint, as it was given to the connection. */
  readonly url: URL
  /** The address of the request, where it is another one than the endpoint. */
  readonly requestUrl?: URL | undefined
  readonly method: string
  /** The operation, for authorizers that count attempts: the MCP method and the name or URI that it is about. */
  readonly operation?: string | undefined
  /** Aborts when the connection closes, after which no request waits for an authorization. */
  readonly signal: AbortSignal
}

/** Status and headers of a response. */
export interface HttpResponseHead {
  readonly status: number
  /** A header by its lower-case name. The challenges of several `WWW-Authenticate` lines are joined with commas. */
  header(name: string): string | undefined
}

/** Authorizes the requests of a connection (basic/authorization). What its functions throw, the call rejects with. */
export interface HttpAuthorizer {
  /** Returns the headers for one request. Called again when the request is sent again. */
  headers(target: HttpTarget): HttpHeaders | Promise<HttpHeaders>
  /**
   * Called with the head of each response before its body is used. Returns `'retry'` to send the request once more:
   * after 401 and 403 the server has done nothing. A request is sent at most four times.
   */
  onResponse(head: HttpResponseHead, target: HttpTarget): 'retry' | undefined | Promise<'retry' | undefined>
}

/** The time limits of a connection, in milliseconds. 0 waits without end. */
export interface HttpTimeouts {
  /**
   * From the request to the headers of its answer. A server that answers in JSON sends them when it is done. Default 30
   * minutes.
   */
  readonly headersMs?: number | undefined
  /** Between two arrivals of bytes, keep-alive comments included. Default 30 minutes. */
  readonly idleMs?: number | undefined
  /** From the request to its response. Default 0: the caller's signal says when. */
  readonly totalMs?: number | undefined
}

/** The retries when no connection could be made, so that nothing can have happened on the server. */
export interface RetryOptions {
  /** Total number of tries of a request. Default 3. */
  readonly attempts?: number | undefined
  /** The longest pause before the second try, doubled before each further one, in milliseconds. Default 100. */
  readonly pauseMs?: number | undefined
  /** The longest pause at all, in milliseconds. Default 2000. */
  readonly maxPauseMs?: number | undefined
}

/** The options of `connectHttp` on every platform. */
export interface HttpConnectOptions {
  /**
   * Headers to add, such as `Authorization`. A function is asked once per request. A client over a connection with a
   * function caches nothing unless its `cache` names a partition: the requests may be of several principals.
   */
  readonly headers?: HttpHeaders | ((request: RpcRequest) => HttpHeaders | Promise<HttpHeaders>) | undefined
  /** Authorizes every request, such as `oauth` of `@x/auth/client`: it adds headers and answers 401 and 403. */
  readonly auth?: HttpAuthorizer | undefined
  /** Limits of every request, or a function that gives them for one. */
  readonly timeouts?: HttpTimeouts | ((request: RpcRequest) => HttpTimeouts) | undefined
  /** `false`: one try. */
  readonly retry?: false | RetryOptions | undefined
  /** The bounds of one message. Default 16 MiB and the parser's own depth and elements. */
  readonly bounds?: Partial<ParseBounds> | undefined
  /** The bytes of one stream, except of methods that stream for as long as they are wanted. Default 64 MiB. */
  readonly maxStreamBytes?: number | undefined
  /** Maximum number of redirects that are followed, within the origin. Default 3. */
  readonly maxRedirects?: number | undefined
  /** Sends through this function instead of the platform's own. It must honour `redirect: 'manual'`. */
  readonly fetch?: FetchFunction | undefined
  /** Default: the platform's. */
  readonly runtime?: Clock | undefined
  /** A number from 0 to 1 for the jitter of pauses. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** The options of `connectHttp` on every platform. */
export const connectOptionNames = {
  headers: true,
  auth: true,
  timeouts: true,
  retry: true,
  bounds: true,
  maxStreamBytes: true,
  maxRedirects: true,
  fetch: true,
  runtime: true,
  random: true,
} as const satisfies Record<keyof HttpConnectOptions, true>
