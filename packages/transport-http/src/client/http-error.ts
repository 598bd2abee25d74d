/** Why an HTTP request has no response. */
export type HttpErrorCode =
  /** Nothing listens at the address, so nothing was received. The server does not run, or has another address. */
  | 'refused'
  /** No connection could be made for another reason, so nothing was received. */
  | 'connect'
  /** In a page, the browser withheld the response, because the server does not allow the page's origin. */
  | 'cors'
  /** An untrusted certificate. Nothing was sent, and another attempt would fail too. */
  | 'certificate'
  /** No connection within ten seconds, or no byte for 30 minutes. The server may have processed the request. */
  | 'timeout'
  /** An HTTP error status, with a body that is not a JSON-RPC error. */
  | 'status'
  /** A response that violates the rules of the transport. */
  | 'protocol'
  /** A response beyond a size limit. */
  | 'too_large'
  /** A redirect to where no request may follow. */
  | 'redirect'
  /** A server of earlier revisions only. The message names one of them. */
  | 'unsupported_version'
  /** The connection or the stream ended before the response was complete. The server may have processed the request. */
  | 'closed'

/** What an {@link HttpError} has besides its code and message. */
export interface HttpErrorDetails {
  /** Scheme, host and port of the server. Path and query may contain secrets, and are left out. */
  readonly origin: string
  /** HTTP status, if a response arrived. */
  readonly status?: number | undefined
  /** Beginning of an unexpected body, at most 200 characters, without the values of request headers. */
  readonly excerpt?: string | undefined
  /** Milliseconds after which the server allows another attempt (`Retry-After`). */
  readonly retryAfterMs?: number | undefined
  /** Default: what the code and the status prove. */
  readonly mayHaveRun?: boolean | undefined
  readonly cause?: unknown
}

/** Failures before the server has received a request, or its refusal to read one. */
const unsentCodes: ReadonlySet<HttpErrorCode> = new Set([
  'refused',
  'connect',
  'certificate',
  'redirect',
  'unsupported_version',
])

/** A server or a proxy sends them without having read the request: it lacks a right, or is too large. */
const refusedStatuses: ReadonlySet<number | undefined> = new Set([401, 403, 407, 413, 414, 429, 431])

/**
 * An HTTP request without a response. A JSON-RPC error of the server is a response, and so no `HttpError`. Its message
 * does not contain the server's address, which is in `origin`.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode
  readonly origin: string
  readonly status: number | undefined
  readonly excerpt: string | undefined
  readonly retryAfterMs: number | undefined
  /** False if the server surely did not run the request. */
  readonly mayHaveRun: boolean

  constructor(code: HttpErrorCode, message: string, details: HttpErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.origin = details.origin
    this.status = details.status
    this.excerpt = details.excerpt
    this.retryAfterMs = details.retryAfterMs
    this.mayHaveRun = details.mayHaveRun ?? !(unsentCodes.has(code) || refusedStatuses.has(details.status))
  }
}

/** True for an {@link HttpError}, also one of another copy of this package. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === 'HttpError' && 'origin' in error && typeof error.origin === 'string'
}
