/**
 * The reason why a token was rejected, for the log of the server. The HTTP response contains only the kind of error.
 *
 * - `invalid_request`: the credentials are malformed, or the request has more than one token
 * - `malformed`: the token is not a JWT, and no issuer with introspection is configured
 * - `unknown_issuer`: the issuer of the token is not in `issuers`
 * - `unsupported_algorithm`, `unsupported_type`: the signature algorithm or the type of the token is not accepted
 * - `unknown_key`: the issuer has no key that fits the token
 * - `invalid_signature`: the token was changed, or signed with another key
 * - `expired`, `not_yet_valid`, `wrong_audience`, `invalid_claim`: a claim of the token is not acceptable
 * - `inactive`: the issuer reports that the token is not active
 * - `wrong_scheme`, `invalid_proof`, `wrong_certificate`: the request does not prove the key that the token is bound to
 * - `insufficient_scope`: the token lacks a scope that every request needs, or `toPrincipal` forbids the request, so the
 *   response is 403
 * - `issuer_unavailable`: the keys or the introspection of the issuer cannot be reached, or `toPrincipal` does not answer,
 *   so the response is 503
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
  | 'insufficient_scope'
  | 'issuer_unavailable'

/** A token was rejected or could not be checked. Neither the message nor the cause contains it. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  readonly code: TokenErrorCode
  /**
   * Milliseconds after which another attempt makes sense. Set with the code `issuer_unavailable` if the issuer's keys
   * cannot be used, and undefined if its introspection failed.
   */
  readonly retryAfterMs: number | undefined
  /** Issuer that cannot be reached. Set with the code `issuer_unavailable`. */
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
 * During an outage of an issuer every request has an error, so one of them per minute is passed on for each unreachable
 * issuer. All other errors are passed on.
 */
export function limitOutageReports<Context>(
  onError: (error: unknown, context: Context | undefined) => void,
  monotonicNow: () => number,
): (error: unknown, context?: Context) => void {
  // Bounded by the issuers of the options.
  const reportedAtByIssuer = new Map<string, number>()
  return (error, context) => {
    if (isTokenError(error) && error.code === 'issuer_unavailable') {
      const issuer = error.issuer ?? ''
      const reportedAt = reportedAtByIssuer.get(issuer)
      if (reportedAt !== undefined && monotonicNow() - reportedAt < outageReportIntervalMs) return
      reportedAtByIssuer.set(issuer, monotonicNow())
    }
    onError(error, context)
  }
}

/** True for a {@link TokenError}, also one of another copy of this package. */
export function isTokenError(error: unknown): error is TokenError {
  return error instanceof Error && error.name === 'TokenError' && 'code' in error && typeof error.code === 'string'
}
