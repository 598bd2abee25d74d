/**
 * OAuth for hosts: logins of users, machines, workloads and enterprises.
 *
 * @module @x/auth/client
 */

export { AuthError, type AuthErrorCode, type AuthErrorDetails, authErrorOf, isAuthError } from './client/auth-error.ts'
export type { AuthServerSettings } from './client/authorize.ts'
export type { FetchFunction } from './bounded-fetch.ts'
export type { ClientIdentity, ClientRegistration } from './client/client-identity.ts'
export type { Redirect, RedirectListener, RedirectOptions } from './client/code-flow.ts'
export { type AuthorizedFetch, authorizedFetch, type AuthorizedFetchOptions } from './client/authorized-fetch.ts'
export { type DpopOptions } from './client/dpop.ts'
export {
  enterprise,
  type EnterpriseOptions,
  type IdentityAssertion,
  type IdentityProvider,
  type IdentityRequest,
} from './client/enterprise.ts'
export {
  type AuthCapabilities,
  clientCredentials,
  type ClientCredentialsOptions,
  type MachineAuth,
  type MachineOptions,
  workload,
  type WorkloadOptions,
} from './client/machine.ts'
export type { ClientKey, MachineClient } from './client/machine-client.ts'
export type { AuthorizerOptions } from './client/authorizer.ts'
export { type OAuth, oauth, type OAuthOptions } from './client/oauth.ts'
export { pageRedirect, type PageRedirectOptions } from './client/page-redirect.ts'
export { type AuthStore, memoryStore, type WebLocks, type WebStorage, webStorageStore } from './client/store.ts'
