import type { HttpErrorResponse } from '@x/exchange'
import { formatRetryAfter, type Log } from '@x/core'
import {
  encodeMessage,
  errorCodes,
  isJsonObject,
  type RpcNotification,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { quotaReason } from '@x/exchange/internal'
import { encodePieces } from '@x/schema/internal'
import type { HttpAnswer, ResponseWriter } from './http-adapter.ts'

/** The answer to one request: plain JSON, or an event stream if a notification was sent. */
export interface Reply<Target = unknown> {
  readonly writer: ResponseWriter<Target>
  readonly target: Target
  /** Alternating names and values, for plain JSON and for an event stream. */
  headers: readonly string[]
  readonly maxQueuedBytes: number
  readonly log: Log
  phase: 'waiting' | 'streaming' | 'ended'
}

/**
 * Sends a notification. The first one makes the answer an event stream. False if it was dropped because the client
 * reads too slowly. Does nothing after the answer has ended.
 */
export function sendNotification(reply: Reply, message: RpcNotification): boolean {
  if (reply.phase === 'ended') return true
  const eventText = encodeEvent(encodeMessage(message, reply.log))
  startStream(reply)
  // Characters approximate bytes well enough to limit memory.
  const { writer, target, maxQueuedBytes } = reply
  if (writer.countQueuedBytes(target) + eventText.length > maxQueuedBytes) return false
  writer.write(target, eventText)
  return true
}

/**
 * Sends the response and ends the answer. `status` applies only if the answer is plain JSON.
 *
 * @throws TypeError for a response that cannot be converted to JSON, such as an object with a cycle. Nothing was sent
 * then.
 */
export function sendResponse(reply: Reply, response: RpcResponse, status = statusOf(response)): void {
  if (reply.phase === 'ended') return
  const { phase, writer, target, headers, log } = reply
  if (phase === 'streaming') {
    const eventText = encodeEvent(encodeMessage(response, log))
    reply.phase = 'ended'
    writer.end(target, eventText)
    return
  }
  const body = encodePieces(response, log) ?? encodeMessage(response, log)
  reply.phase = 'ended'
  writer.send(target, {
    status,
    headers: withRetryAfter(headers, response),
    body,
    hasConnectionClose: isHandOff(response),
  })
}

/** Sets a header of the answer, in place of one of the same name. Does nothing after the head was sent. */
export function setReplyHeader(reply: Reply, name: string, value: string): void {
  if (reply.phase !== 'waiting') return
  const headerIndex = reply.headers.findIndex(
    (headerName, index) => index % 2 === 0 && headerName.toLowerCase() === name.toLowerCase(),
  )
  const otherHeaders = headerIndex < 0 ? reply.headers : reply.headers.toSpliced(headerIndex, 2)
  reply.headers = [...otherHeaders, name, value]
}

/** Keeps the connection open with a comment, unless other output is still waiting. */
export function sendKeepAlive(reply: Reply): void {
  if (reply.phase === 'ended') return
  startStream(reply)
  const { writer, target } = reply
  if (writer.countQueuedBytes(target) === 0) writer.write(target, keepAliveComment)
}

/** Ends the answer without sending anything more (basic/transports/streamable-http, cancellation). */
export function abandonReply(reply: Reply): void {
  reply.phase = 'ended'
}

function startStream(reply: Reply): void {
  if (reply.phase !== 'waiting') return
  reply.phase = 'streaming'
  const { writer, target, headers } = reply
  writer.open(target, headers.length === 0 ? eventStreamHeaders : [...eventStreamHeaders, ...headers])
}

function withRetryAfter(headers: readonly string[], response: RpcResponse): readonly string[] {
  const retryAfter = readRetryAfter(response)?.header
  return retryAfter === undefined ? headers : ['Retry-After', retryAfter, ...headers]
}

/**
 * True if a response only asks the client to send the call again, as that of a handed-off call does
 * (basic/patterns/mrtr). Its connection is then closed, so that the repeated call can reach another instance.
 */
function isHandOff(response: RpcResponse): boolean {
  if (!('result' in response)) return false
  const { resultType, inputRequests } = response.result
  return resultType === 'input_required' && inputRequests === undefined
}

/**
 * Recognizes a call that was rejected: with 503 if the server is overloaded or cannot reach a service that it needs (RFC
 * 9110, section 15.6.4), with 429 if the caller has reached a quota (RFC 6585, section 4). `header` has the seconds
 * after which the client may send the call again, and is undefined if waiting does not help. Undefined for any other
 * response.
 */
function readRetryAfter(
  response: RpcResponse,
): { readonly status: 429 | 503; readonly header: string | undefined } | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data)) return undefined
  const { reason, retryAfterMs } = data
  const hasRetryTime = typeof retryAfterMs === 'number' && retryAfterMs >= 0
  const header = hasRetryTime ? formatRetryAfter(retryAfterMs) : undefined
  if (reason === quotaReason) return { status: 429, header }
  return temporaryReasons.has(reason) && hasRetryTime ? { status: 503, header } : undefined
}

// Overload, or a store, bus, issuer or engine that the server needs and cannot reach.
const temporaryReasons: ReadonlySet<unknown> = new Set(['overloaded', 'unavailable'])

const statusByErrorCode: ReadonlyMap<number, number> = new Map([
  [errorCodes.parse, 400],
  [errorCodes.invalidRequest, 400],
  [errorCodes.methodNotFound, 404],
  [errorCodes.invalidParams, 400],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingRequiredClientCapability, 400],
  [errorCodes.unsupportedProtocolVersion, 400],
])

/**
 * HTTP status of a JSON-RPC response. Errors of the protocol have 400 or 404. 503 means that the client may send the
 * call again, perhaps to another instance, and 429 that the caller has reached a quota. Results, error codes of an
 * application and internal errors have 200, because some clients ignore the error code if the status is 500
 * (basic/index; basic/transports/streamable-http).
 */
export function statusOf(response: RpcResponse): number {
  if (!('error' in response)) return 200
  return readRetryAfter(response)?.status ?? statusByErrorCode.get(response.error.code) ?? 200
}

/**
 * Keeps caches from storing an event stream, proxies from buffering it, and middleware that compresses from holding
 * events back until it ends (RFC 9111, section 5.2.2.6). Alternating names and values.
 */
export const eventStreamHeaders: readonly string[] = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-store, no-transform',
  'X-Accel-Buffering',
  'no',
]

/** Readers of event streams ignore a comment, but with it proxies do not close an idle connection. */
export const keepAliveComment = ':\n\n'

/** The JSON must contain no line break. */
function encodeEvent(json: string): string {
  return `data: ${json}\n\n`
}

/** True for an {@link HttpErrorResponse}. A principal may have a member `status` too, beside its `subject`. */
export function isHttpErrorResponse(value: unknown): value is HttpErrorResponse {
  return typeof value === 'object' && value !== null && 'status' in value && !('subject' in value)
}

/** Answers a rejected request. `headers` contains additional headers, as alternating names and values. */
export function createErrorAnswer(rejection: HttpErrorResponse, headers: readonly string[]): HttpAnswer {
  const { status, message, code = errorCodes.invalidRequest, data } = rejection
  const error: WireError = data === undefined ? { code, message } : { code, message, data }
  return {
    status,
    headers: rejection.headers === undefined ? headers : [...headers, ...Object.entries(rejection.headers).flat()],
    body: encodeMessage({ jsonrpc: '2.0', error }),
  }
}

/** For a request on which a function of the application failed. Its error is in the log alone. */
export const internalErrorResponse: HttpErrorResponse = {
  status: 500,
  code: errorCodes.internal,
  message: 'Internal error',
}

export function bodyTooLargeResponse(maxBytes: number): HttpErrorResponse {
  return { status: 413, code: errorCodes.parse, message: `The body is longer than ${maxBytes} bytes` }
}

/** For a body that is not UTF-8 (basic/transports). */
export const invalidTextResponse: HttpErrorResponse = {
  status: 400,
  code: errorCodes.parse,
  message: 'The body is not valid UTF-8',
}

/** For a body whose connection closed before its end. It appears only in a log. */
export const incompleteBodyResponse: HttpErrorResponse = {
  status: 400,
  code: errorCodes.parse,
  message: 'The connection closed before the body was whole',
}

/** For a request whose body other code has read without setting `body`. */
export const bodyAlreadyReadResponse: HttpErrorResponse = {
  status: 500,
  code: errorCodes.internal,
  message:
    'The body was read before this handler: mount it ahead of body parsers, or leave the parsed body in request.body',
}
