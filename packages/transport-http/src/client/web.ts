/**
 * Client side of the Streamable HTTP transport.
 *
 * @module @x/transport-http/client
 */

export type { Clock } from '@x/core'
export { connectHttp, createHttpClient, type HttpConnection } from './connect.ts'
export type { HttpEvent, HttpEventListener } from './event-stream.ts'
export type { HttpClient } from './http-client.ts'
export { HttpError, type HttpErrorCode, type HttpErrorDetails, isHttpError } from './http-error.ts'
export type { HttpClientRequest, HttpClientResponse } from './http-response.ts'
export type {
  HttpAuthorizer,
  HttpConnectOptions,
  HttpHeaders,
  HttpResponseHead,
  HttpTarget,
} from './options.ts'
export type { FetchFunction, HttpMethod } from './sender.ts'
