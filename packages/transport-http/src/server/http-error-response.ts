import { encodeMessage, errorCodes, type JsonObject, type WireError } from '@x/schema'
import type { Answer } from './response-writer.ts'

/**
 * An answer that is given for HTTP's own reasons, before there is a call. Its body is a JSON-RPC error without an id.
 */
export interface HttpErrorResponse {
  /** The HTTP status, such as 401. */
  readonly status: number
  /** The fault and its remedy; the peer sees it. */
  readonly message: string
  /** The JSON-RPC code; `errorCodes.invalidRequest` when absent. */
  readonly code?: number | undefined
  /** The reason in a form for programs; the peer sees it. */
  readonly data?: JsonObject | undefined
  /** Headers to send along, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Returns true if a value is a {@link HttpErrorResponse}; a principal has no status. */
export function isHttpErrorResponse(value: unknown): value is HttpErrorResponse {
  return typeof value === 'object' && value !== null && 'status' in value
}

/** The answer that tells the peer of a refusal; `headers`, flat, go out as well. */
export function errorAnswer(rejection: HttpErrorResponse, headers: readonly string[]): Answer {
  const { status, message, code = errorCodes.invalidRequest, data } = rejection
  const error: WireError = data === undefined ? { code, message } : { code, message, data }
  return {
    status,
    headers: rejection.headers === undefined ? headers : [...headers, ...Object.entries(rejection.headers).flat()],
    body: encodeMessage({ jsonrpc: '2.0', error }),
  }
}

/** The refusal of a body that is longer than its bound. */
export function bodyTooLarge(maxBytes: number): HttpErrorResponse {
  return { status: 413, code: errorCodes.parse, message: `The body is longer than ${maxBytes} bytes` }
}

/** The refusal of a body whose bytes are no text (basic/transports: messages are UTF-8). */
export const invalidTextResponse: HttpErrorResponse = {
  status: 400,
  code: errorCodes.parse,
  message: 'The body is not valid UTF-8',
}

/** The refusal of a body that ended before it was whole; only a log sees it, since the peer has gone. */
export const incompleteBodyResponse: HttpErrorResponse = {
  status: 400,
  code: errorCodes.parse,
  message: 'The connection closed before the body was whole',
}

/** The refusal of a request whose body somebody else has read and kept. */
export const bodyAlreadyReadResponse: HttpErrorResponse = {
  status: 500,
  code: errorCodes.internal,
  message:
    'The body was read before this handler: mount it ahead of body parsers, or leave the parsed body in request.body',
}
