/**
 * Server side of the Streamable HTTP transport on `node:http`.
 *
 * @module @x/transport-http/node
 */

export { documentHandler } from './node/documents.ts'
export { nodeHandler } from './node/node-handler.ts'
export type { NodeHandler, NodeHandlerOptions } from './node/node-handler.ts'
export type { NodeRequest } from './node/response-writer.ts'
export { serveHttp } from './node/serve-http.ts'
export type { HttpServer } from './node/serve-http.ts'
export type { ServeHttpOptions } from './node/serve-options.ts'
export type { StopOptions } from './node/stop.ts'
export type { HttpDocument, HttpDocuments } from './server/documents.ts'
export type { RequestView } from './server/http-adapter.ts'
export type { AuthenticationContext, HttpErrorHead, HttpErrorResponse } from '@x/exchange'
export type { AuthenticateFunction, AuthenticationResult, HttpAuth } from './server/auth.ts'
export type { HandlerOptions } from './server/handler-settings.ts'
