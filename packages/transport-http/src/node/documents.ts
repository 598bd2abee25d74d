import type { IncomingMessage, ServerResponse } from 'node:http'
import { compileDocuments, findDocumentAnswer, type HttpDocuments } from '../server/documents.ts'
import { createErrorAnswer } from '../server/reply.ts'
import type { NodeContext } from './node-handler.ts'
import { sendAnswer } from './response-writer.ts'

/** A request for another path than the endpoint's. */
interface DocumentRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
}

/** Answers a request for another path than the endpoint's: a document, or that nothing is there. */
export function answerDocument({ request, response, path }: DocumentRequest, { settings }: NodeContext): void {
  const { method = '', url = '' } = request
  const notFound = { status: 404, message: `There is nothing here: the endpoint is ${path}` }
  sendAnswer(response, findDocumentAnswer(settings.documents, { method, url }) ?? createErrorAnswer(notFound, []))
}

/**
 * Serves documents alone, where a router hands the handler of the endpoint no other path. Returns false for any other
 * path.
 *
 * @example
 * const serveDocument = documentHandler(auth.documents) app.use((request, response, next) => { if
 * (!serveDocument(request, response)) next() })
 *
 * @throws TypeError for a path that is none.
 */
export function documentHandler(
  documents: HttpDocuments,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const compiledDocuments = compileDocuments(documents)
  return ({ method = '', url = '' }, response) => {
    const answer = findDocumentAnswer(compiledDocuments, { method, url })
    if (answer !== undefined) sendAnswer(response, answer)
    return answer !== undefined
  }
}
