import type { LimitError } from '@x/core'
import {
  encodeMessage,
  errorCodes,
  errorResponse,
  isJsonObject,
  limitErrorToMcp,
  type RpcNotification,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { encodePieces, quotaReason } from '@x/schema/internal'
import type { HttpAnswer, HttpErrorResponse, ResponseWriter } from './http-adapter.ts'

/** The answer to one request: plain JSON, or an event stream once a notification was sent. */
export interface Reply<Target = unknown> {
  readonly writer: ResponseWriter<Target>
  readonly target: Target
  /** Headers, flat, of the answer in either form. */
  headers: readonly string[]
  readonly maxQueuedBytes: number
  phase: 'waiting' | 'streaming' | 'ended'
}

/**
 * Sends a notification. The first one makes the answer a stream. Returns false when the notification was dropped,
 * because its reader is too slow. Does nothing after the answer has ended.
 */
export function sendNotification(reply: Reply, message: RpcNotification): boolean {
  if (reply.phase === 'ended') return true
  const eventText = encodeEvent(encodeMessage(message))
  startStream(reply)
  // Characters approximate bytes here, which suffices to bound memory.
  const { writer, target, maxQueuedBytes } = reply
  if (writer.countQueuedBytes(target) + eventText.length > maxQueuedBytes) return false
  writer.write(target, eventText)
  return true
}

/**
 * Sends the response and ends the answer. `status` is for an answer that is still plain JSON.
 *
 * @throws TypeError for a response that is no JSON, such as a cycle. Nothing was sent then.
 */
export function sendResponse(reply: Reply, response: RpcResponse, status = statusOf(response)): void {
  if (reply.phase === 'ended') return
  const { phase, writer, target, headers } = reply
  if (phase === 'streaming') {
    const eventText = encodeEvent(encodeMessage(response))
    reply.phase = 'ended'
    writer.end(target, eventText)
    return
  }
  const body = encodePieces(response) ?? encodeMessage(response)
  reply.phase = 'ended'
  writer.send(target, {
    status,
    headers: withRetryAfter(headers, response),
    body,
    hasConnectionClose: isHandOff(response),
  })
}

/**
 * Sets a header of the answer and replaces an earlier one of that name. Does nothing once the head is sent.
 */
export function setReplyHeader(reply: Reply, name: string, value: string): void {
  if (reply.phase !== 'waiting') return
  const headerIndex = reply.headers.findIndex(
    (headerName, index) => index % 2 === 0 && headerName.toLowerCase() === name.toLowerCase(),
  )
  const otherHeaders = headerIndex < 0 ? reply.headers : reply.headers.toSpliced(headerIndex, 2)
  reply.headers = [...otherHeaders, name, value]
}

/** Sends a comment that shows that the call is running, unless other output waits. */
export function sendKeepAlive(reply: Reply): void {
  if (reply.phase === 'ended') return
  startStream(reply)
  const { writer, target } = reply
  if (writer.countQueuedBytes(target) === 0) writer.write(target, keepAliveComment)
}

/** Abandons the answer, for which nothing more is sent (basic/transports/streamable-http, cancellation). */
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
  const seconds = readRetryAfter(response)?.afterSeconds
  return seconds === undefined ? headers : ['Retry-After', String(seconds), ...headers]
}

/**
 * Returns true if an answer requests only a retry, as a call that is handed off does (basic/patterns/mrtr). The retry
 * should reach another instance, and over the same connection it would reach this one again.
 */
function isHandOff(response: RpcResponse): boolean {
  if (!('result' in response)) return false
  const { resultType, inputRequests } = response.result
  return resultType === 'input_required' && inputRequests === undefined
}

/** The status and the header of a rejected call that may be sent again. */
interface RetryAfter {
  /**
   * 503 where the server is overloaded or cannot reach a part (RFC 9110, section 15.6.4), 429 where the caller has
   * reached a quota (RFC 6585, section 4).
   */
  readonly status: 429 | 503
  /** Seconds after which the call may be sent again, or undefined where a wait changes nothing. */
  readonly afterSeconds: number | undefined
}

/**
 * Returns the head of an answer that rejects a call for the server's load or the caller's quota, undefined for any
 * other answer.
 */
function readRetryAfter(response: RpcResponse): RetryAfter | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.internal) return undefined
  const { data } = response.error
  if (!isJsonObject(data)) return undefined
  const { reason, retryAfterMs } = data
  const hasRetryTime = typeof retryAfterMs === 'number' && retryAfterMs >= 0
  const afterSeconds = hasRetryTime ? Math.max(1, Math.ceil(retryAfterMs / 1000)) : undefined
  if (reason === quotaReason) return { status: 429, afterSeconds }
  return temporaryReasons.has(reason) && hasRetryTime ? { status: 503, afterSeconds } : undefined
}

// The server is overloaded, or a store, bus, issuer or engine that it needs is unreachable.
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
 * Returns the HTTP status of a JSON-RPC response: 400 or 404 for the protocol's errors, 503 for a call that may be
 * retried elsewhere, 429 for one whose caller has reached a quota. Results, codes of an application and internal errors
 * get 200: a client that reads a 500 as a failure of HTTP loses the code (basic/index;
 * basic/transports/streamable-http).
 */
export function statusOf(response: RpcResponse): number {
  if (!('error' in response)) return 200
  return readRetryAfter(response)?.status ?? statusByErrorCode.get(response.error.code) ?? 200
}

/** The headers, flat, of an event stream, which no cache may store and no proxy may buffer. */
export const eventStreamHeaders: readonly string[] = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-store',
  'X-Accel-Buffering',
  'no',
]

/** A comment. Readers of event streams ignore it, and it keeps idle timers of proxies from closing the connection. */
export const keepAliveComment = ':\n\n'

/** The event that carries a message's JSON, which has no line break in it. */
function encodeEvent(json: string): string {
  return `data: ${json}\n\n`
}

/** Returns true if a value is a {@link HttpErrorResponse}. A principal has no status. */
export function isHttpErrorResponse(value: unknown): value is HttpErrorResponse {
  return typeof value === 'object' && value !== null && 'status' in value
}

/** Creates the answer of a rejection, with further `headers`, which are flat. */
export function createErrorAnswer(rejection: HttpErrorResponse, headers: readonly string[]): HttpAnswer {
  const { status, message, code = errorCodes.invalidRequest, data } = rejection
  const error: WireError = data === undefined ? { code, message } : { code, message, data }
  return {
    status,
    headers: rejection.headers === undefined ? headers : [...headers, ...Object.entries(rejection.headers).flat()],
    body: encodeMessage({ jsonrpc: '2.0', error }),
  }
}

/**
 * The rejection of a request for which the ledger has no room: 429 for its caller's bound, 503 for the bound of all.
 */
export function limitErrorResponse(error: LimitError): HttpErrorResponse {
  const wireError = errorResponse(undefined, limitErrorToMcp(error))
  const { code, message, data } = wireError.error
  const seconds = readRetryAfter(wireError)?.afterSeconds
  return {
    status: statusOf(wireError),
    code,
    message,
    ...(isJsonObject(data) && { data }),
    ...(seconds !== undefined && { headers: { 'Retry-After': String(seconds) } }),
  }
}

/** The rejection of a body that is longer than its bound. */
export function bodyTooLargeResponse(maxBytes: number): HttpErrorResponse {
  return { status: 413, code: errorCodes.parse, message: `The body is longer than ${maxBytes} bytes` }
}

/** The rejection of a body that is not UTF-8 (basic/transports). */
export const invalidTextResponse: HttpErrorResponse = {
  status: 400,
  code: errorCodes.parse,
  message: 'The body is not valid UTF-8',
}

/** The rejection of a body whose connection closed before its end, which only a log can show. */
export const incompleteBodyResponse: HttpErrorResponse = {
  status: 400,
  code: errorCodes.parse,
  message: 'The connection closed before the body was whole',
}

/** The rejection of a request whose body other code has read and not passed on. */
export const bodyAlreadyReadResponse: HttpErrorResponse = {
  status: 500,
  code: errorCodes.internal,
  message:
    'The body was read before this handler: mount it ahead of body parsers, or leave the parsed body in request.body',
}
