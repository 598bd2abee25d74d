/** The reason why an HTTP request has no response. */
export type HttpErrorCode =
  /** No connection could be made, so that nothing reached the server. */
  | 'connect'
  /** The certificate of the server is not trusted. Nothing was sent, and another attempt would fail as well. */
  | 'certificate'
  /** The connection did not open in ten seconds, or no byte arrived for 30 minutes. The server may have acted. */
  | 'timeout'
  /** The server answered with an HTTP status and no JSON-RPC error. */
  | 'status'
  /** The response is not what the transport defines. */
  | 'protocol'
  /** The response exceeds a size limit. */
  | 'too_large'
  /** The server redirects to a target that must not be followed. */
  | 'redirect'
  /** The server implements only earlier revisions of the protocol. The message names its revision. */
  | 'unsupported_version'
  /** The connection or the stream ended before the response was complete. The server may have acted. */
  | 'closed'

/** The members of an {@link HttpError} without its code and message. */
export interface HttpErrorDetails {
  /** Scheme, host and port of the server. Path and query are omitted, because they may contain secrets. */
  readonly origin: string
  /** The HTTP status, if a response arrived. */
  readonly status?: number | undefined
  /**
   * The beginning of the body of an unexpected response, at most 200 characters. Values of sent headers are removed.
   */
  readonly excerpt?: string | undefined
  /** Milliseconds that the server asks the client to wait before another attempt (`Retry-After`). */
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/**
 * A request over HTTP without a response. A JSON-RPC error of the server is a response and no `HttpError`. The message
 * does not contain the address, which is in `origin`.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode
  readonly origin: string
  readonly status: number | undefined
  readonly excerpt: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: HttpErrorCode, message: string, details: HttpErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.origin = details.origin
    this.status = details.status
    this.excerpt = details.excerpt
    this.retryAfterMs = details.retryAfterMs
  }
}

/** Returns true if a value is a {@link HttpError}, from this copy of the package or another. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === 'HttpError' && 'origin' in error && typeof error.origin === 'string'
}
