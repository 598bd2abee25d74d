/** Reasons for which a request could not be authorized: the closed table of {@link AuthError}. */
export type AuthErrorCode =
  /** A person has to visit `url`. The program continues with `finishLogin`. */
  | 'authorization_needed'
  /** The person or the authorization server denied the login. */
  | 'authorization_denied'
  /** The authorization response belongs to no login of this client, by its state, its issuer or its form. */
  | 'response_invalid'
  /** No metadata of the resource or the authorization server could be used. */
  | 'metadata_invalid'
  /** Metadata names another issuer than the one that it was requested for. */
  | 'issuer_mismatch'
  /** The resource of the metadata is not the server that was called. */
  | 'resource_mismatch'
  /** The authorization server does not say that it supports PKCE with S256. */
  | 'pkce_unsupported'
  /** Metadata names an address that must not be used. */
  | 'unsafe_url'
  /** There is no way to get a client id at this authorization server. */
  | 'client_needed'
  /** The private key of the client cannot sign. */
  | 'key_invalid'
  /** The authorization server issues no tokens that are bound to a key, and those are required. */
  | 'dpop_unsupported'
  /** The authorization server did not register the client. */
  | 'registration_rejected'
  /** The token endpoint answered with an error. */
  | 'token_rejected'
  /** A server that is needed is unreachable, slow or broken. No token was deleted. */
  | 'server_unavailable'
  /** The server refused a token that was issued for it a moment ago. */
  | 'token_refused'
  /** More scopes were asked for than one login may hold. */
  | 'too_many_scopes'
  /** The login ended before its response: it timed out, or the connection was closed. */
  | 'login_ended'

/** Details of an {@link AuthError} beside its code and message. */
export interface AuthErrorDetails {
  /** The issuer of the authorization server, where one was found. */
  readonly issuer?: string | undefined
  /** The address to visit, of `authorization_needed`. */
  readonly url?: URL | undefined
  /** The `error` of the authorization server (RFC 6749, sections 4.1.2.1 and 5.2). */
  readonly error?: string | undefined
  readonly cause?: unknown
}

/** A request could not be authorized. Its message holds no token, code or secret. */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly code: AuthErrorCode
  readonly issuer: string | undefined
  readonly url: URL | undefined
  readonly error: string | undefined

  constructor(code: AuthErrorCode, message: string, details: AuthErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.issuer = details.issuer
    this.url = details.url
    this.error = details.error
  }
}

/** Returns true for an {@link AuthError}, from this copy of the package or another. */
export function isAuthError(error: unknown): error is AuthError {
  return error instanceof Error && error.name === 'AuthError' && 'code' in error && typeof error.code === 'string'
}

const maxCauses = 8

/**
 * Returns the {@link AuthError} that an error is or was caused by: a client's call rejects with an error of its own.
 */
export function authErrorOf(error: unknown): AuthError | undefined {
  let currentError = error
  for (let depth = 0; depth < maxCauses && currentError instanceof Error; depth += 1) {
    if (isAuthError(currentError)) return currentError
    currentError = currentError.cause
  }
  return undefined
}

const maxQuotedLength = 200

/** Returns text of a peer for a message: one line in quotes, of bounded length. */
export function quoteText(text: string): string {
  const printableText = text.slice(0, maxQuotedLength).replaceAll(/[^\x20-\x7e]+/g, ' ')
  return `"${text.length > maxQuotedLength ? `${printableText}…` : printableText}"`
}
