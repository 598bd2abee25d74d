import { isLoopbackHost, isSecureUrl } from '../oauth-urls.ts'
import { AuthError } from './auth-error.ts'
import type { Redirect } from './code-flow.ts'

/** A page that receives the redirect of a login. */
export interface PageRedirectOptions {
  /** The address of the page, as it is registered. */
  readonly uri: string | URL
  /** Leaves for the authorization server, such as `(url) => location.assign(url)`. A web server redirects by itself. */
  readonly assign?: ((url: URL) => void) | undefined
}

/**
 * Sends people to the authorization server from a page, and receives the redirect in a page. A call that needs a login
 * rejects with `AuthError` `authorization_needed` and its `url`. After the redirect, `auth.finishLogin(address)`
 * continues.
 */
export function pageRedirect({ uri, assign }: PageRedirectOptions): Redirect {
  const redirectUrl = new URL(uri)
  if (!isSecureUrl(redirectUrl)) {
    throw new TypeError('The redirect URI must be https, or http on this machine')
  }
  return {
    applicationType: isLoopbackHost(redirectUrl.hostname) ? 'native' : 'web',
    open: async () => ({
      uri: redirectUrl.href,
      visit: async (url) => {
        assign?.(url)
        throw new AuthError('authorization_needed', `A login is needed: visit ${url.origin}`, { url })
      },
      close: async () => {},
    }),
  }
}
