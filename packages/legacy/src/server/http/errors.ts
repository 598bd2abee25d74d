import { formatRetryAfter } from '@x/core'
import type { HttpRequestView } from '@x/exchange'
import {
  encodeMessage,
  errorCodes,
  errorResponse,
  isJsonObject,
  McpError,
  type RpcRequest,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { quotaReason } from '@x/exchange/internal'
import type { ResponseHead } from './call-stream.ts'
import type { ParsedEventId } from './event-id.ts'

/** Other servers of these revisions send this code for an unknown session. */
const sessionNotFoundCode = -32001

const statusByReason: ReadonlyMap<string, number> = new Map([
  ['overloaded', 503],
  ['stopping', 503],
  ['unavailable', 503],
  [quotaReason, 429],
])

/**
 * Rejects a request with an HTTP status and a JSON-RPC error without an id. `message` says what was wrong and what
 * would be right.
 */
export function rejectRequest(
  { reply }: HttpRequestView,
  { status, message, headers = [] }: ResponseHead & { readonly message: string },
): true {
  const code = status === 404 ? sessionNotFoundCode : errorCodes.invalidRequest
  const body = encodeMessage({ jsonrpc: '2.0', error: { code, message } })
  reply.send({ status, headers, body })
  return true
}

/** Rejects a request with a temporary error, such as an exhausted quota, and without a JSON-RPC id. */
export function rejectWithError({ reply }: HttpRequestView, error: WireError): true {
  const { status, headers } = createOverloadHead(error)
  const response: RpcResponse = { jsonrpc: '2.0', error }
  reply.send({ status: status === 200 ? 503 : status, ...(headers && { headers }), body: encodeMessage(response) })
  return true
}

/**
 * Rejects a request whose session id is not accepted, with the same response for every reason (basic/transports,
 * session management).
 */
export function rejectSession(view: HttpRequestView): true {
  return rejectRequest(view, { status: 404, message: 'Session not found: initialize again' })
}

/**
 * Answers a call whose instance has ended, on the connection with which the client resumes the stream. False if the
 * event id does not name the call's request.
 */
export function rejectLostCall(
  { streamId, eventNumber, requestId }: ParsedEventId,
  { reply }: HttpRequestView,
): boolean {
  if (requestId === undefined) return false
  const message = 'The instance that ran the call has ended: the call may have been done in part'
  const error = new McpError(errorCodes.internal, message, { data: { reason: 'lost' } })
  reply.open()
  reply.write(`id: ${streamId}.${eventNumber + 1}\ndata: ${encodeMessage(errorResponse(requestId, error))}\n\n`)
  reply.end()
  return true
}

/**
 * An error gets the status and headers of the transport's `toHttpError`, for example 403 for a missing scope. A call
 * that may be sent again later gets 429 or 503. Anything else is 200, even an error, because clients of these revisions
 * treat any other status as a transport failure.
 */
export function createResponseHead(response: RpcResponse, view?: HttpRequestView, request?: RpcRequest): ResponseHead {
  if (!('error' in response)) return { status: 200 }
  const head = view?.toHttpError?.(response.error, request)
  if (head === undefined) return createOverloadHead(response.error)
  return { status: head.status, headers: Object.entries(head.headers ?? {}).flat() }
}

function createOverloadHead({ code, data }: WireError): ResponseHead {
  if (code !== errorCodes.internal || !isJsonObject(data)) return { status: 200 }
  const { reason, retryAfterMs } = data
  const status = typeof reason === 'string' ? statusByReason.get(reason) : undefined
  if (status === undefined) return { status: 200 }
  return { status, headers: ['Retry-After', formatRetryAfter(typeof retryAfterMs === 'number' ? retryAfterMs : 0)] }
}
