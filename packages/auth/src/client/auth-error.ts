/**
 * The reasons why a request could not be authorized, as the codes of {@link AuthError}. An `AuthError` has no other
 * code.
 */
export type AuthErrorCode =
  /** A person has to visit `url`. Afterwards the program calls `finishLogin`. */
  | 'authorization_needed'
  /** The person or the authorization server refused the login. */
  | 'authorization_denied'
  /** The authorization response does not fit any login of this client: its state, its issuer or its form is wrong. */
  | 'response_invalid'
  /** No usable metadata of the resource or of the authorization server was found. */
  | 'metadata_invalid'
  /**
   * The metadata of an authorization server names another issuer than the issuer at whose address the metadata was
   * requested.
   */
  | 'issuer_mismatch'
  /** The metadata of the resource describes another server than the one that was called. */
  | 'resource_mismatch'
  /** The metadata of the authorization server does not list the PKCE method S256. */
  | 'pkce_unsupported'
  /** Metadata or a challenge names a URL that must not be used. */
  | 'unsafe_url'
  /** The program has no client id at this authorization server, and cannot get one. */
  | 'client_needed'
  /** The private key of the client cannot be used to sign. */
  | 'key_invalid'
  /**
   * The option `dpop` requires tokens that are bound to a key, and the authorization server does not issue such tokens.
   */
  | 'dpop_unsupported'
  /** The authorization server refused to register the client. */
  | 'registration_rejected'
  /** The token endpoint answered with an error. */
  | 'token_rejected'
  /** A server that the login needs is unreachable, slow or broken. The stored tokens were kept. */
  | 'server_unavailable'
  /** The MCP server refused a token that the authorization server had just issued for it. */
  | 'token_refused'
  /** More scopes are needed than one login may request. */
  | 'too_many_scopes'
  /**
   * A login is open in the browser, at `url`, or in another process, without `url`. A call that timed out meanwhile has
   * this error as its cause, and so has the state of its connection.
   */
  | 'login_pending'
  /** The login ended before its response arrived, because it timed out or the connection was closed. */
  | 'login_ended'

/** The members of an {@link AuthError} without its code and message. */
export interface AuthErrorDetails {
  /** The issuer of the authorization server, if it is known. */
  readonly issuer?: string | undefined
  /** The URL that the person has to visit. Set with `authorization_needed`, and with the `login_pending` of a page. */
  readonly url?: URL | undefined
  /** The `error` that the authorization server sent (RFC 6749, sections 4.1.2.1 and 5.2). */
  readonly error?: string | undefined
  readonly cause?: unknown
}

/** Reports that a request could not be authorized. The message contains no token, code or secret. */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly code: AuthErrorCode
  readonly issuer: string | undefined
  readonly url: URL | undefined
  readonly error: string | undefined
  /** A server runs no request that it has not authorized. */
  readonly mayHaveRun = false

  constructor(code: AuthErrorCode, message: string, details: AuthErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.issuer = details.issuer
    this.url = details.url
    this.error = details.error
  }
}

/** Returns true if a value is an {@link AuthError}. The class may come from another copy of this package. */
export function isAuthError(error: unknown): error is AuthError {
  return error instanceof Error && error.name === 'AuthError' && 'code' in error && typeof error.code === 'string'
}

const maxCauses = 8

/**
 * Returns the {@link AuthError} among an error and its causes. A call of a client rejects with an error of the client,
 * which has the `AuthError` as its cause.
 */
export function authErrorOf(error: unknown): AuthError | undefined {
  let currentError = error
  for (let depth = 0; depth < maxCauses && currentError instanceof Error; depth += 1) {
    if (isAuthError(currentError)) return currentError
    currentError = currentError.cause
  }
  return undefined
}
