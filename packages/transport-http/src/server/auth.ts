import type { Ledger } from '@x/core'
import type { HttpErrorHead, Principal } from '@x/exchange'
import type { WireError } from '@x/schema'
import type { HttpDocuments } from './documents.ts'
import type { HttpErrorResponse, RequestView } from './http-adapter.ts'

/**
 * The result of an authentication: a principal, a response that rejects the request, or undefined for an anonymous
 * caller.
 */
export type AuthenticationResult = Principal | HttpErrorResponse | undefined

/** The parts of a server that the authentication of a request uses. */
export interface AuthenticationContext {
  readonly ledger: Ledger
  /** The key of the client's address in the ledger. */
  readonly callerKey: string
  /** Reports an error that belongs to this request. */
  report(error: unknown): void
}

/**
 * Authenticates a request before its body is read. If the function throws, the request is answered with an internal
 * error.
 */
export type AuthenticateFunction<Source> = (
  request: RequestView<Source>,
  context: AuthenticationContext,
) => AuthenticationResult | Promise<AuthenticationResult>

/** The authentication of an endpoint, as `protect` of `@x/auth/server` returns it. */
export interface HttpAuth<Source> {
  readonly authenticate: AuthenticateFunction<Source>
  /**
   * Documents that every client may read, with any origin and any `Host`. An example is the metadata of the resource
   * (RFC 9728).
   */
  readonly documents?: HttpDocuments | undefined
  /**
   * Returns the HTTP status and headers for a JSON-RPC error, such as 403 with a `WWW-Authenticate` for a missing
   * scope. The body remains the JSON-RPC error. The function is not called for an error on an event stream, because the
   * head of the stream has already been sent.
   */
  readonly toHttpError?: ((error: WireError) => HttpErrorHead | undefined) | undefined
  /** Rejects while no request can be authenticated. `/readyz` of `serveHttp` returns 503 until it resolves. */
  readonly ready?: (() => Promise<void>) | undefined
}

/**
 * Returns the members of the option `auth`.
 *
 * @throws TypeError for a value that is neither a function nor a result of `protect`.
 */
export function compileAuth<Source>(
  auth: AuthenticateFunction<Source> | HttpAuth<Source> | undefined,
): Partial<HttpAuth<Source>> {
  if (auth === undefined) return {}
  if (typeof auth === 'function') return { authenticate: auth }
  if (typeof auth.authenticate === 'function') return auth
  throw new TypeError(
    'auth has no authenticate: give what protect() returns, or a function from a request to a principal',
  )
}
