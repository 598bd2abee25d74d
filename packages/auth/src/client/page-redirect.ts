import { checkArgument, isSecureUrl, isThisMachine } from '@x/core'
import { AuthError } from './auth-error.ts'
import type { Redirect } from './code-flow.ts'

/** Options of {@link pageRedirect}. */
export interface PageRedirectOptions {
  /** Address of the page that receives the redirect. It must be registered as a redirect URI. */
  readonly uri: string | URL
  /**
   * Sends the browser to the authorization server, such as `(url) => location.assign(url)`. Leave it out in a web
   * server, which redirects with its own response.
   */
  readonly assign?: ((url: URL) => void) | undefined
}

/**
 * Takes a login through web pages. A call that needs a login rejects with `AuthError` `authorization_needed`, whose
 * `url` the person has to visit. The page that receives the redirect calls `auth.finishLogin(address)`.
 */
export function pageRedirect(options: PageRedirectOptions): Redirect {
  checkArgument(options, {
    where: 'pageRedirect',
    takes: 'an object with uri, the address of the page',
    needs: ['uri'],
  })
  const { uri, assign } = options
  // Authorization servers compare redirect URIs as text, so a `URL` must not add a slash to an origin.
  const redirectUri = String(uri)
  const redirectUrl = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined
  if (redirectUrl === undefined || !isSecureUrl(redirectUrl)) {
    throw new TypeError('The redirect URI must be a URL: https, or http on this machine')
  }
  return {
    applicationType: isThisMachine(redirectUrl.hostname) ? 'native' : 'web',
    open: async () => ({
      uri: redirectUri,
      visit: async (url) => {
        await Promise.resolve(assign?.(url))
        throw new AuthError('authorization_needed', `A login is needed: visit ${url.origin}`, { url })
      },
      close: async () => {},
    }),
  }
}
