import type { Clock } from '@x/core'
import type { RpcRequest } from '@x/schema'
import type { FetchFunction } from './sender.ts'

/** Header values by name. A header that the transport itself writes causes a `TypeError`. */
export type HttpHeaders = Readonly<Record<string, string>>

/** The request that an authorizer authorizes. Each attempt to send the request passes the same object. */
export interface HttpTarget {
  /** The endpoint, as the user passed it to the connection. */
  readonly url: URL
  /** The URL of the request, if it differs from the endpoint. */
  readonly requestUrl?: URL | undefined
  readonly method: string
  /** The MCP method, and the name or the URI of its target. Authorizers use it to count attempts. */
  readonly operation?: string | undefined
  /** Aborts when the connection is closed, so that an authorizer stops waiting. */
  readonly signal: AbortSignal
}

/** The status and the headers of a response. */
export interface HttpResponseHead {
  readonly status: number
  /**
   * Returns a header by its name in lower case. The challenges in several `WWW-Authenticate` lines are joined with
   * commas.
   */
  header(name: string): string | undefined
}

/**
 * Authorizes the requests of a connection (basic/authorization). If one of these functions throws an error, the call
 * rejects with it.
 */
export interface HttpAuthorizer {
  /** Returns the headers for one request. Called for each attempt to send it. */
  headers(target: HttpTarget): HttpHeaders | Promise<HttpHeaders>
  /**
   * Called with the status and the headers of each response before its body is used. Returns `'retry'` to send the
   * request again. This is safe after 401 and 403, because the server has not processed the request. A request is sent
   * at most four times.
   */
  onResponse(head: HttpResponseHead, target: HttpTarget): 'retry' | undefined | Promise<'retry' | undefined>
}

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
   * `false` sends each request only once. By default a request is sent up to three times while no connection to the
   * server can be made. The server then never receives a request twice.
   */
  readonly retry?: boolean | undefined
  /** The limit for the bytes of one message from the server. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** The limit for the bytes of one call's event stream. The stream of a subscription has no limit. Default 64 MiB. */
  readonly maxStreamBytes?: number | undefined
  /** The function that sends requests. Default: the platform's own. It must support `redirect: 'manual'`. */
  readonly fetch?: FetchFunction | undefined
  /** The clock for timeouts and pauses. Default: the clock of the platform. */
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
