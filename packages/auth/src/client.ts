/**
 * OAuth for hosts whose users log in. Machines, enterprises and DPoP have entries of their own in this package.
 *
 * @module @x/auth/client
 */

export { AuthError, type AuthErrorCode, type AuthErrorDetails, authErrorOf, isAuthError } from './client/auth-error.ts'
export type { AuthServerSettings } from './client/authorize.ts'
export type { FetchFunction } from './bounded-fetch.ts'
export type { ClientIdentity, ClientRegistration } from './client/client-identity.ts'
export type { Redirect, RedirectListener, RedirectOptions } from './client/code-flow.ts'
export { type AuthorizedFetch, authorizedFetch, type AuthorizedFetchOptions } from './client/authorized-fetch.ts'
export type { DpopBinding } from './client/dpop-binding.ts'
export type { AuthorizerOptions } from './client/authorizer.ts'
export type { OAuthOptions } from './client/code-authorizer.ts'
export { type OAuth, oauth } from './client/oauth.ts'
export { pageRedirect, type PageRedirectOptions } from './client/page-redirect.ts'
export { type AuthStore, memoryAuthStore, type WebLocks, type WebStorage, webStorageStore } from './client/store.ts'
