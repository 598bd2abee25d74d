/**
 * Protects a server: verification of access tokens, challenges, metadata and scopes.
 *
 * @module @x/auth/server
 */

export { protect } from './server/protect.ts'
export type { Protection } from './server/protect.ts'
export type { ProtectOptions } from './server/protect-options.ts'
export type { AuthenticationResult } from './server/authenticate.ts'
export type { CertificateOf } from './server/binding.ts'
export type { DpopOptions } from './server/dpop.ts'
export { needScopes, requireScopes } from './server/require-scopes.ts'
export type { RequireScopesOptions, ScopeRules, ScopesOf } from './server/require-scopes.ts'
export { isTokenError, TokenError } from './server/token-error.ts'
export type { TokenErrorCode } from './server/token-error.ts'
export type { FetchFunction } from './bounded-fetch.ts'
export type { AuthenticationContext, HttpErrorResponse } from '@x/exchange'
export type { HttpRequestHead } from './server/credentials.ts'
export type { IntrospectionOptions } from './server/introspect.ts'
export type { IssuerOptions } from './server/issuers.ts'
export type { MetadataDocument } from './server/metadata.ts'
export type { ToPrincipal } from './server/principal.ts'
export type { ImpliedScopes, Scopes } from './scopes.ts'
