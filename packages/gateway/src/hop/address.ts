import { isSecureUrl } from '@x/core'

/**
 * Says why a server's address is refused, or undefined. Only `https:`, or `http:` on this machine, keeps tokens and
 * answers out of clear text; other parts of an address could hide a secret or another host.
 */
export function findAddressProblem(url: URL): string | undefined {
  if (!isSecureUrl(url)) return `${url.origin} is neither https: nor http: on this machine`
  if (url.username !== '' || url.password !== '') return `${url.origin} has a user or a password: pass headers instead`
  return url.hash === '' ? undefined : `${url.origin} has a fragment, which no server receives`
}
