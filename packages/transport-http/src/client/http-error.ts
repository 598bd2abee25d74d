/** The reasons why an HTTP request has no response. */
export type HttpErrorCode =
  /** Nothing listens at the address, so the server received nothing. It does not run, or has another address. */
  | 'refused'
  /** No connection could be made for another reason, so the server received nothing. */
  | 'connect'
  /** In a page, the browser withheld the response, because the server does not allow the origin of the page. */
  | 'cors'
  /** The certificate of the server is not trusted. Nothing was sent, and another attempt would fail too. */
  | 'certificate'
  /**
   * The connection did not open within ten seconds, or no byte arrived for 30 minutes. The server may have processed
   * the request.
   */
  | 'timeout'
  /** The server answered with an HTTP error status, and the body is not a JSON-RPC error. */
  | 'status'
  /** The response violates the rules of the transport. */
  | 'protocol'
  /** The response exceeds a size limit. */
  | 'too_large'
  /** The server redirects to a target that must not be followed. */
  | 'redirect'
  /** The server implements only earlier revisions of the protocol. The message names a revision of the server. */
  | 'unsupported_version'
  /** The connection or the stream ended before the response was complete. The server may have processed the request. */
  | 'closed'

/** The members of an {@link HttpError} without its code and message. */
export interface HttpErrorDetails {
  /** The scheme, host and port of the server. The path and the query are left out, because they may contain secrets. */
  readonly origin: string
  /** The HTTP status, if a response arrived. */
  readonly status?: number | undefined
  /**
   * The beginning of the body of an unexpected response, at most 200 characters. Values of request headers are removed
   * from it.
   */
  readonly excerpt?: string | undefined
  /** The time in milliseconds after which the server allows another attempt (`Retry-After`). */
  readonly retryAfterMs?: number | undefined
  /** Default: what the code and the status prove. */
  readonly mayHaveRun?: boolean | undefined
  readonly cause?: unknown
}

/** The codes of failures before the server has received a request, or of its refusal to read one. */
const unsentCodes: ReadonlySet<HttpErrorCode> = new Set([
  'refused',
  'connect',
  'certificate',
  'redirect',
  'unsupported_version',
])

/** The statuses with which a server refuses a request before it reads the body. */
const refusedStatuses: ReadonlySet<number | undefined> = new Set([401, 403, 429])

/**
 * Reports that an HTTP request has no response. A JSON-RPC error of the server is a response, and so not an
 * `HttpError`. The message does not contain the server's address, which is in `origin`.
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

/** Returns true if a value is an {@link HttpError}. The class may come from another copy of this package. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === 'HttpError' && 'origin' in error && typeof error.origin === 'string'
}
