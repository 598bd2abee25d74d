/**
 * Reason of a rejection, for the server's own log. A response contains the kind of the fault alone.
 *
 * - `invalid_request`: the credentials are malformed, or there are two of them
 * - `malformed`: the token is no JWT, and cannot be introspected
 * - `unknown_issuer`: its issuer is not in `issuers`
 * - `unsupported_algorithm`, `unsupported_type`: its signature algorithm, or its type, is not accepted
 * - `unknown_key`: its issuer has no such key
 * - `invalid_signature`: it was altered, or signed by another key
 * - `expired`, `not_yet_valid`, `wrong_audience`, `invalid_claim`: a claim is not acceptable
 * - `inactive`: its issuer reports it as not active
 * - `wrong_scheme`, `invalid_proof`, `wrong_certificate`: it is bound to a key, and came without a proof of that key
 * - `issuer_unavailable`: the issuer's keys or its introspection cannot be reached, so the response is 503
 */
export type TokenErrorCode =
  | 'invalid_request'
  | 'malformed'
  | 'unknown_issuer'
  | 'unsupported_algorithm'
  | 'unsupported_type'
  | 'unknown_key'
  | 'invalid_signature'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_audience'
  | 'invalid_claim'
  | 'inactive'
  | 'wrong_scheme'
  | 'invalid_proof'
  | 'wrong_certificate'
  | 'issuer_unavailable'

/** A token that was rejected, or could not be checked. Neither its message nor its cause holds the token. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  readonly code: TokenErrorCode
  /** Milliseconds after which another attempt makes sense, of `issuer_unavailable`. */
  readonly retryAfterMs: number | undefined
  /** The issuer that cannot be reached, of `issuer_unavailable`. */
  readonly issuer: string | undefined

  constructor(
    code: TokenErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number; readonly issuer?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryAfterMs = options.retryAfterMs
    this.issuer = options.issuer
  }
}

const outageReportIntervalMs = 60_000

/**
 * Returns a listener that passes on one error a minute about each unreachable issuer, because each request during an
 * outage has such an error. All other errors are passed on.
 */
export function limitOutageReports<Context>(
  onError: (error: unknown, context: Context | undefined) => void,
  now: () => number,
): (error: unknown, context?: Context) => void {
  const reportedAtByIssuer = new Map<string, number>()
  return (error, context) => {
    if (isTokenError(error) && error.code === 'issuer_unavailable') {
      const issuer = error.issuer ?? ''
      const reportedAt = reportedAtByIssuer.get(issuer)
      if (reportedAt !== undefined && now() - reportedAt < outageReportIntervalMs) return
      reportedAtByIssuer.set(issuer, now())
    }
    onError(error, context)
  }
}

/** Returns true if a value is a {@link TokenError}, from this copy of the package or another. */
export function isTokenError(error: unknown): error is TokenError {
  return error instanceof Error && error.name === 'TokenError' && 'code' in error && typeof error.code === 'string'
}
