import {
  encodeMessage,
  errorCodes,
  errorResponse,
  type HttpRequestView,
  isJsonObject,
  McpError,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { quotaReason } from '@x/schema/internal'
import type { ResponseHead } from './call-stream.ts'
import type { ParsedEventId } from './event-id.ts'

/** The error code of a session that is unknown here, as servers of these revisions answer it. */
const sessionNotFoundCode = -32001

/** HTTP statuses of errors that a client may send its request again after. */
const statusByReason: ReadonlyMap<string, number> = new Map([
  ['overloaded', 503],
  ['stopping', 503],
  ['unavailable', 503],
  [quotaReason, 429],
])

/** The answer to a request that is not served. */
export interface Rejection {
  readonly status: number
  /** Says what was wrong and what would be right. */
  readonly message: string
  readonly headers?: readonly string[]
}

/** Answers with an HTTP status and a JSON-RPC error without an id. */
export function rejectRequest({ reply }: HttpRequestView, { status, message, headers = [] }: Rejection): true {
  const code = status === 404 ? sessionNotFoundCode : errorCodes.invalidRequest
  const body = encodeMessage({ jsonrpc: '2.0', error: { code, message } })
  reply.send({ status, headers, body })
  return true
}

/** Rejects a request that is no JSON-RPC request with an error that may pass, such as a quota. */
export function rejectWithError({ reply }: HttpRequestView, error: WireError): true {
  const { status, headers } = createOverloadHead(error)
  const response: RpcResponse = { jsonrpc: '2.0', error }
  reply.send({ status: status === 200 ? 503 : status, ...(headers && { headers }), body: encodeMessage(response) })
  return true
}

/**
 * Rejects a request whose session id opens no session, with the same answer for every reason (basic/transports, session
 * management).
 */
export function rejectSession(view: HttpRequestView): true {
  return rejectRequest(view, { status: 404, message: 'Session not found: initialize again' })
}

/**
 * Answers a call whose instance has ended, on the stream that its client resumes. Returns false when it is not known
 * which request that was.
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
 * Returns the HTTP status of a response: the one that the transport's author gives to its error, such as 403 for a
 * scope that is missing. 429 and 503 for a call that may be sent again later. Otherwise 200 even with an error in the
 * body, because clients of these revisions take any other status for a broken transport.
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
  const retryAfterSeconds = typeof retryAfterMs === 'number' ? Math.max(1, Math.ceil(retryAfterMs / 1000)) : 1
  return { status, headers: ['Retry-After', String(retryAfterSeconds)] }
}
