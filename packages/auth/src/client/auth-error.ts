/** Codes of {@link AuthError}: why a request could not be authorized. There are no others. */
export type AuthErrorCode =
  /** A person has to visit `url`. Afterwards the program calls `finishLogin`. */
  | 'authorization_needed'
  /** The person or the authorization server refused the login. */
  | 'authorization_denied'
  /** The authorization response does not fit any login of this client: its state, its issuer or its form is wrong. */
  | 'response_invalid'
  /** No usable metadata of the resource or of the authorization server was found. */
  | 'metadata_invalid'
  /** An authorization server's metadata names another issuer than the one at whose address it was requested. */
  | 'issuer_mismatch'
  /** The resource's metadata describes another server than the one that was called. */
  | 'resource_mismatch'
  /** The authorization server's metadata does not list the PKCE method S256. */
  | 'pkce_unsupported'
  /** Metadata or a challenge names a URL that must not be used. */
  | 'unsafe_url'
  /** The program has no client id at this authorization server, and cannot get one. */
  | 'client_needed'
  /** The client's private key cannot be used to sign. */
  | 'key_invalid'
  /** The option `dpop` requires tokens that are bound to a key, and the authorization server issues none. */
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

/** What an {@link AuthError} has beside its code and message. */
export interface AuthErrorDetails {
  /** Issuer of the authorization server, if it is known. */
  readonly issuer?: string | undefined
  /** Where the person has to go. Set with `authorization_needed`, and with the `login_pending` of a page. */
  readonly url?: URL | undefined
  /** What a call needs beyond an earlier login. Set with the `login_pending` of a page. */
  readonly addedScopes?: readonly string[] | undefined
  /** What the authorization server sent as `error` (RFC 6749, sections 4.1.2.1 and 5.2). */
  readonly error?: string | undefined
  readonly cause?: unknown
}

/** A request could not be authorized. The message contains no token, code or secret. */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly code: AuthErrorCode
  readonly issuer: string | undefined
  readonly url: URL | undefined
  readonly addedScopes: readonly string[] | undefined
  readonly error: string | undefined
  /** A server runs no request that it has not authorized. */
  readonly mayHaveRun = false

  constructor(code: AuthErrorCode, message: string, details: AuthErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.issuer = details.issuer
    this.url = details.url
    this.addedScopes = details.addedScopes
    this.error = details.error
  }
}

/** True for an {@link AuthError}, also one of another copy of this package. */
export function isAuthError(error: unknown): error is AuthError {
  return error instanceof Error && error.name === 'AuthError' && 'code' in error && typeof error.code === 'string'
}

const maxCauses = 8

/**
 * Finds the {@link AuthError} among an error and its causes: a call of a client rejects with an error of the client,
 * whose cause it is.
 */
export function authErrorOf(error: unknown): AuthError | undefined {
  let currentError = error
  for (let depth = 0; depth < maxCauses && currentError instanceof Error; depth += 1) {
    if (isAuthError(currentError)) return currentError
    currentError = currentError.cause
  }
  return undefined
}
