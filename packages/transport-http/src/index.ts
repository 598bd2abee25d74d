/**
 * Server side of the Streamable HTTP transport on the Fetch API.
 *
 * @module @x/transport-http
 */

export { documentHandler, httpHandler } from './server/http-handler.ts'
export type { ExecutionContext, FetchHandler, HttpHandlerOptions } from './server/http-handler.ts'
export type { HttpDocument, HttpDocuments } from './server/documents.ts'
export type { RequestView } from './server/http-adapter.ts'
export {
  type AuthenticationContext,
  type HttpErrorContext,
  type HttpErrorHead,
  type HttpErrorResponse,
  type Platform,
  platformKey,
} from '@x/exchange'
export type { AuthenticateFunction, AuthenticationResult, HttpAuth } from './server/auth.ts'
export type { HandlerOptions } from './server/handler-settings.ts'
