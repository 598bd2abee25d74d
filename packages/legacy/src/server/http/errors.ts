import { formatRetryAfter } from '@x/core'
import type { HttpRequestView } from '@x/exchange'
import {
  encodeMessage,
  errorCodes,
  errorResponse,
  isJsonObject,
  McpError,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { quotaReason } from '@x/exchange/internal'
import type { ResponseHead } from './call-stream.ts'
import type { ParsedEventId } from './event-id.ts'

/** The error code for an unknown session, as other servers of these revisions send it. */
const sessionNotFoundCode = -32001

/** The HTTP statuses of errors after which a client may send its request again, by the `reason` of the error. */
const statusByReason: ReadonlyMap<string, number> = new Map([
  ['overloaded', 503],
  ['stopping', 503],
  ['unavailable', 503],
  [quotaReason, 429],
])

/** The response to a request that is not served. */
export interface Rejection {
  readonly status: number
  /** A text that says what was wrong and what would be right. */
  readonly message: string
  readonly headers?: readonly string[]
}

/** Rejects a request with an HTTP status and a JSON-RPC error without an id. */
export function rejectRequest({ reply }: HttpRequestView, { status, message, headers = [] }: Rejection): true {
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
 * Rejects a request whose session id is not accepted. The response is the same for every reason (basic/transports,
 * session management).
 */
export function rejectSession(view: HttpRequestView): true {
  return rejectRequest(view, { status: 404, message: 'Session not found: initialize again' })
}

/**
 * Answers a call whose instance has ended. The response is sent on the connection with which the client resumes the
 * stream. Returns false if the event id does not name the request of the call.
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
 * Returns the HTTP status and headers of a response. For an error they come from `toHttpError` of the transport, for
 * example 403 for a missing scope. For a call that may be sent again later, the status is 429 or 503. Otherwise it is
 * 200 even for an error, because clients of these revisions treat any other status as a transport failure.
 */
export function createResponseHead(response: RpcResponse, view?: HttpRequestView): ResponseHead {
  if (!('error' in response)) return { status: 200 }
  const head = view?.toHttpError?.(response.error)
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
