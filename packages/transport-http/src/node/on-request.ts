import type { IncomingMessage, ServerResponse } from 'node:http'
import { createErrorAnswer, internalErrorResponse } from '../server/reply.ts'
import { createNodeRequestView, type NodeContext } from './node-handler.ts'
import { sendAnswer } from './response-writer.ts'

interface HookedRequest {
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly context: NodeContext
}

/** Serves a request unless the author's hook answers it. A hook that throws or rejects fails this request alone. */
export async function runOnRequest(
  { onRequest, request, response, context }: HookedRequest,
  serve: () => void,
): Promise<void> {
  try {
    if (!(await onRequest(request, response))) serve()
  } catch (error) {
    context.settings.onError(error, createNodeRequestView(request))
    // Half an answer of the hook cannot be taken back.
    if (response.headersSent && !response.writableEnded) response.destroy()
    else sendAnswer(response, createErrorAnswer(internalErrorResponse, []))
  }
}
