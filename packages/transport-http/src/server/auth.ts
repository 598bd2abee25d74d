import { optionTypes } from '@x/core'
import type { AuthenticationContext, HttpErrorContext, HttpErrorHead, HttpErrorResponse, Principal } from '@x/exchange'
import type { WireError } from '@x/schema'
import type { HttpDocuments } from './documents.ts'
import type { RequestView } from './http-adapter.ts'

/** Who calls: a principal, or undefined for an anonymous caller. A response rejects the request. */
export type AuthenticationResult = Principal | HttpErrorResponse | undefined

/** Authenticates a request before its body is read. If it throws, the request is answered with an internal error. */
export type AuthenticateFunction<Source> = (
  request: RequestView<Source>,
  context: AuthenticationContext,
) => AuthenticationResult | Promise<AuthenticationResult>

/** How an endpoint authenticates, as `protect` of `@x/auth/server` returns it. */
export interface HttpAuth<Source> {
  readonly authenticate: AuthenticateFunction<Source>
  /**
   * Documents that every client may read, with any origin and any `Host`, such as the metadata of the resource (RFC
   * 9728).
   */
  readonly documents?: HttpDocuments | undefined
  /**
   * HTTP status and headers for a JSON-RPC error, such as 403 with a `WWW-Authenticate` for a missing scope. The body
   * remains the JSON-RPC error. On an event stream, whose head has already been sent, the result is not used.
   */
  readonly toHttpError?: ((error: WireError, context: HttpErrorContext) => HttpErrorHead | undefined) | undefined
  /**
   * Rejects while no request can be authenticated. `/readyz` of `serveHttp` returns 503 until it resolves. `report` writes
   * to the server's log what belongs to no request.
   */
  readonly ready?: ((context: Pick<AuthenticationContext, 'report'>) => Promise<void>) | undefined
}

/**
 * Throws for what is no principal, such as `false` for an unknown token. Its call would run, and callers without a
 * subject would count as one, so that each could continue the calls of the others.
 */
export function checkPrincipal(principal: unknown): void {
  const { accepts, name } = optionTypes.principal
  if (principal === undefined || accepts(principal)) return
  const returned = principal === null ? 'null' : `a value of the type ${typeof principal}`
  const others = "undefined for an anonymous caller, or a rejection such as { status: 401, message: 'Log in' }"
  throw new TypeError(`auth returned ${returned}: it must return ${name}, ${others}`)
}

/**
 * Takes the option `auth` in either form.
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
