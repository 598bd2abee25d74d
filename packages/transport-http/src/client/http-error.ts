/** The closed table of reasons for which an HTTP exchange gave no answer. */
export type HttpErrorCode =
  /** No connection could be made: nothing reached the server. */
  | 'connect'
  /** The certificate of the server is not trusted: nothing was sent, and another try ends in the same way. */
  | 'certificate'
  /** The connection did not open in ten seconds, or no byte arrived for 30 minutes. The server may have acted. */
  | 'timeout'
  /** The server answered with an HTTP status and no JSON-RPC error. */
  | 'status'
  /** The response is not what the transport defines. */
  | 'protocol'
  /** More came than the bounds allow. */
  | 'too_large'
  /** A redirect that must not be followed. */
  | 'redirect'
  /** The server speaks earlier revisions of the protocol alone. The message names its revision. */
  | 'unsupported_version'
  /** The connection or the stream ended before the answer. The server may have acted. */
  | 'closed'

/** The members of an {@link HttpError} beside its code and message. */
export interface HttpErrorDetails {
  /** Scheme, host and port of the server, never a path or a query, which may hold secrets. */
  readonly origin: string
  /** The HTTP status, where one came. */
  readonly status?: number | undefined
  /** The beginning of the body of an unexpected answer, at most 200 characters, without the secrets that were sent. */
  readonly excerpt?: string | undefined
  /** Milliseconds that the server asks to wait before another try (`Retry-After`). */
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/**
 * No answer could be had over HTTP. It is local: errors of the peer arrive as a response. The message leaves the address
 * to `origin` and to the `ClientError` that it causes.
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
