/**
 * Client side of the Streamable HTTP transport.
 *
 * @module @x/transport-http/client
 */

export type { Clock } from '@x/core'
export type { HttpConnection } from './client/connect.ts'
export { connectHttp, createHttpClient, type NodeConnectOptions } from './client/connect-node.ts'
export type { HttpEvent, HttpEventListener } from './client/event-stream.ts'
export type { HttpClient } from './client/http-client.ts'
export { HttpError, type HttpErrorCode, type HttpErrorDetails, isHttpError } from './client/http-error.ts'
export type { ResponseFailure } from './client/error-status.ts'
export type { HttpClientRequest, HttpClientResponse } from './client/http-response.ts'
export type {
  HttpAuthorizer,
  HttpConnectOptions,
  HttpHeaders,
  HttpResponseHead,
  HttpTarget,
} from './client/options.ts'
export type { FetchFunction, HttpMethod } from './client/sender.ts'
