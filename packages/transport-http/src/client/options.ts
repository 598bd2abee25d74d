import type { Clock } from '@x/core'
import type { RpcRequest } from '@x/schema'
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

/** The options of `connectHttp` on every platform. */
export interface HttpConnectOptions {
  /**
   * Headers to add, such as `Authorization`. A function is asked once per request. A client over a connection with a
   * function caches nothing unless its `cache` names a partition: the requests may be of several principals.
   */
  readonly headers?: HttpHeaders | ((request: RpcRequest) => HttpHeaders | Promise<HttpHeaders>) | undefined
  /** Authorizes every request, such as `oauth` of `@x/auth/client`: it adds headers and answers 401 and 403. */
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
  /** Sends through this function instead of the platform's own. It must honour `redirect: 'manual'`. */
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
