/**
 * The Streamable HTTP transport, over the Fetch API.
 *
 * @module @x/transport-http
 */

export { documentHandler, httpHandler } from './server/http-handler.ts'
export type { FetchHandler, HttpHandlerOptions } from './server/http-handler.ts'
export type { CorsOptions } from './server/cors.ts'
export type { HttpDocument, HttpDocuments } from './server/documents.ts'
export type { HttpErrorResponse, RequestView } from './server/http-adapter.ts'
export type { HttpErrorHead } from '@x/schema'
export type {
  AuthenticateFunction,
  AuthenticationContext,
  AuthenticationResult,
  HandlerOptions,
  Schedule,
} from './server/handler-settings.ts'
