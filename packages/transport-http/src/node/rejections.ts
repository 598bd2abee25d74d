import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorCodes } from '@x/schema'
import { findDocumentAnswer } from '../server/documents.ts'
import { createErrorAnswer } from '../server/reply.ts'
import type { NodeContext } from './node-handler.ts'
import { sendAnswer } from './response-writer.ts'

/**
 * RFC 9112, section 3: a request line contains a version. Without it the parser assumes HTTP/0.9, whose responses have
 * no head.
 */
export function rejectRequestLine(response: ServerResponse): void {
  const message = 'The request line has no HTTP version: end it with HTTP/1.1'
  response.shouldKeepAlive = false
  sendAnswer(response, createErrorAnswer({ status: 400, message }, []))
}

export function rejectPipelinedRequest(response: ServerResponse): void {
  const message = 'Too many requests at once on one connection: wait for their answers, or open another connection'
  response.shouldKeepAlive = false
  sendAnswer(response, createErrorAnswer({ status: 503, code: errorCodes.internal, message }, []))
}

export function rejectWhileStopping(response: ServerResponse): void {
  const rejection = { status: 503, code: errorCodes.internal, message: 'The server is stopping: try another instance' }
  // The client may send the call again at once, because another instance can accept it.
  const data = { reason: 'stopping', retryAfterMs: 0 }
  // So a balancer does not send the next request over a connection that is about to close.
  response.shouldKeepAlive = false
  sendAnswer(response, createErrorAnswer({ ...rejection, data, headers: { 'Retry-After': '1' } }, []))
}

/** Rejects a request for another path than the endpoint's `path` with 404, unless a document has it. */
export function rejectOtherPath(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  { settings }: NodeContext,
): void {
  const { method = '', url = '' } = request
  const notFound = { status: 404, message: `There is nothing here: the endpoint is ${path}` }
  sendAnswer(response, findDocumentAnswer(settings.documents, { method, url }) ?? createErrorAnswer(notFound, []))
}
