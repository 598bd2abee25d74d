/** Why an HTTP exchange gave no answer; the closed table of {@link HttpError}. */
export type HttpErrorCode =
  /** No connection could be made: nothing reached the server. */
  | 'connect'
  /** A limit of {@link HttpTimeouts} passed. The server may have acted. */
  | 'timeout'
  /** The server answered with an HTTP status and no JSON-RPC error. */
  | 'status'
  /** What came is not what the transport defines. */
  | 'protocol'
  /** More came than the bounds allow. */
  | 'too-large'
  /** A redirect that must not be followed. */
  | 'redirect'
  /** The connection or the stream ended before the answer. The server may have acted. */
  | 'closed'

/** What an {@link HttpError} tells beside its code and message. */
export interface HttpErrorDetails {
  /** Scheme, host and port of the server; never a path or a query, which may hold secrets. */
  readonly origin: string
  /** The HTTP status, where one came. */
  readonly status?: number | undefined
  /** The beginning of the body of an unexpected answer, at most 200 characters, without the secrets that were sent. */
  readonly excerpt?: string | undefined
  /** How long the server asks to wait before another try, in milliseconds (`Retry-After`). */
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** No answer could be had over HTTP. It is local: errors of the peer arrive as a response. */
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

/** Whether a value is a {@link HttpError}, from this copy of the package or another. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === 'HttpError' && 'origin' in error && typeof error.origin === 'string'
}
