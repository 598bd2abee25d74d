import type { AuthenticationContext, HttpErrorContext, HttpErrorResponse } from '@x/exchange'
import { logMissingScopes, neededScopesOf } from '@x/exchange/internal'
import type { WireError } from '@x/schema'
import { parseScopes } from '../scopes.ts'
import {
  authenticate,
  type AuthenticationResult,
  type AuthenticationState,
  defaultChallengesOf,
} from './authenticate.ts'
import type { HttpRequestHead } from './credentials.ts'
import { canonicalizeResource, createMetadataDocuments, type MetadataDocument } from './metadata.ts'
import {
  checkProtectOptions,
  createAuthenticationState,
  dpopModeOf,
  type ProtectInternals,
  type ProtectOptions,
} from './protect-options.ts'

/** Pass it to `serveHttp`, `nodeHandler` or `httpHandler` as `auth`. */
export interface Protection {
  /** Who sends a request, or the HTTP response that rejects it with a challenge. */
  readonly authenticate: (
    request: HttpRequestHead,
    context?: AuthenticationContext,
  ) => AuthenticationResult | Promise<AuthenticationResult>
  /** Metadata of the resource, by URL path. */
  readonly documents: Readonly<Record<string, MetadataDocument>>
  /**
   * Turns an error of {@link requireScopes} or {@link needScopes} into a 403 response with a challenge. Undefined for
   * any other error. Writes to the log of `context` which scopes are missing, unless the server has.
   */
  readonly toHttpError: (error: WireError, context?: HttpErrorContext) => HttpErrorResponse | undefined
  /**
   * Rejects until one issuer has been reached, because no token can be verified before. `/readyz` returns 503 until it
   * resolves. `report` gets errors that belong to no request. Default: lines on the standard error.
   */
  readonly ready: (context?: Pick<AuthenticationContext, 'report'>) => Promise<void>
}

/**
 * Protects a server with OAuth access tokens (basic/authorization). A request without a valid one is rejected with a
 * challenge that names the resource's metadata. No principal, error or log contains a token.
 *
 * @example
 * const auth = protect({ resource: 'https://mcp.example.com/mcp', issuers: ['https://auth.example.com'], scopes: ['items:read'] })
 * await serveHttp(server, { port: 3000, host: '0.0.0.0', allowedHosts: ['mcp.example.com'], auth })
 *
 * @throws TypeError for invalid options.
 */
export function protect(options: ProtectOptions): Protection {
  return createProtection(options)
}

/** Tests pass other internal values. */
export function createProtection(options: ProtectOptions, internals?: ProtectInternals): Protection {
  checkProtectOptions(options)
  const resource = canonicalizeResource(options.resource)
  const scopes = parseScopes('scopes', options.scopes ?? [])
  const supportedScopes = parseScopes(
    'supportedScopes',
    (options.supportedScopes ?? scopes).filter((scope) => scope !== 'offline_access'),
  )
  const state = createAuthenticationState(options, { resource, scopes }, internals)
  const resourceDescription = {
    resource,
    issuers: options.issuers.map((entry) => (typeof entry === 'string' ? entry : entry.issuer)),
    scopes: supportedScopes,
    dpop: dpopModeOf(options),
    hasCertificateBoundTokens: options.certificateOf !== undefined,
  }
  return {
    authenticate: (request, context = state.localContext) => authenticate(request, context, state),
    documents: createMetadataDocuments(resourceDescription),
    toHttpError: (error, context) => toScopeChallenge(error, context, state),
    ready: (context) => {
      if (context !== undefined) state.background.report = context.report
      return state.issuers.ready()
    },
  }
}

// With the scopes that every request needs, too: a client that requests only the listed ones would lose them.
function toScopeChallenge(
  error: WireError,
  context: HttpErrorContext | undefined,
  state: AuthenticationState,
): HttpErrorResponse | undefined {
  const neededScopes = neededScopesOf(error)
  if (neededScopes === undefined) return undefined
  if (context !== undefined) logMissingScopes(error, context)
  return defaultChallengesOf(state).createScopeChallenge([...new Set([...state.scopes, ...neededScopes])])
}
