import { checkArgument } from '@x/core'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpAuth } from '../server/auth.ts'
import { compileDocuments, findDocumentAnswer } from '../server/documents.ts'
import { sendAnswer } from './response-writer.ts'

/**
 * Serves only the documents of `protect()`, for a router that passes only the endpoint's path to the handler of the
 * endpoint. For any other path, the returned function sends nothing and returns false.
 *
 * @example
 * const serveDocument = documentHandler(auth)
 * app.use((request, response, next) => serveDocument(request, response) || next())
 *
 * @throws TypeError for a path without a slash at its beginning.
 */
export function documentHandler(
  auth: Pick<HttpAuth<IncomingMessage>, 'documents'>,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  checkArgument(auth, { where: 'documentHandler', takes: 'the result of protect()', needs: ['documents'] })
  const compiledDocuments = compileDocuments(auth.documents)
  return ({ method = '', url = '' }, response) => {
    const answer = findDocumentAnswer(compiledDocuments, { method, url })
    if (answer !== undefined) sendAnswer(response, answer)
    return answer !== undefined
  }
}
