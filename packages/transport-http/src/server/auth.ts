import type { Ledger } from '@x/core'
import type { HttpErrorHead, Principal, WireError } from '@x/schema'
import type { HttpDocuments } from './documents.ts'
import type { HttpErrorResponse, RequestView } from './http-adapter.ts'

/** The result of an authentication: a principal, undefined for an anonymous caller, or a rejection such as 401. */
export type AuthenticationResult = Principal | HttpErrorResponse | undefined

/** The parts of the server that the authentication of one request may use. */
export interface AuthenticationContext {
  readonly ledger: Ledger
  /** The key by which the ledger counts the address of the client. */
  readonly callerKey: string
  /** Reports an error of the request. */
  report(error: unknown): void
}

/**
 * Authenticates a request before its body is read. An error that the function throws is answered as an internal error.
 */
export type AuthenticateFunction<Source> = (
  request: RequestView<Source>,
  context: AuthenticationContext,
) => AuthenticationResult | Promise<AuthenticationResult>

/** The protection of an endpoint, as `protect` of `@x/auth/server` returns it. */
export interface HttpAuth<Source> {
  readonly authenticate: AuthenticateFunction<Source>
  /** Documents that every client, origin and `Host` may read, such as the metadata of the resource (RFC 9728). */
  readonly documents?: HttpDocuments | undefined
  /**
   * Returns the HTTP status and headers of a JSON-RPC error, such as 403 with a `WWW-Authenticate` for a missing scope.
   * The body stays the JSON-RPC error. An error on an event stream has neither, because the head of the stream was sent
   * before it.
   */
  readonly toHttpError?: ((error: WireError) => HttpErrorHead | undefined) | undefined
  /** Rejects while no request can be authenticated. `/readyz` of `serveHttp` is 503 meanwhile. */
  readonly ready?: (() => Promise<void>) | undefined
}

/**
 * Returns the parts of an `auth` option.
 *
 * @throws TypeError for a value that is neither a function nor a protection.
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
