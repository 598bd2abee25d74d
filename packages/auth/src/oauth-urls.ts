import { isSecureUrl } from '@x/core'

/**
 * Parses a URL that must be safe for credentials and keys (see {@link isSecureUrl}).
 *
 * @throws TypeError for a URL that is not safe. The message names the option `name`.
 */
export function parseSecureUrl(name: string, url: string): URL {
  if (!URL.canParse(url)) throw new TypeError(`${name} is ${JSON.stringify(url)}: write an absolute URL`)
  const parsedUrl = new URL(url)
  if (isSecureUrl(parsedUrl)) return parsedUrl
  throw new TypeError(`${name} is ${JSON.stringify(url)}: only https is safe, or http on a loopback address`)
}

/**
 * Where an authorization server may publish its metadata, in the order in which a client tries: RFC 8414, then OpenID
 * Connect Discovery 1.0 (basic/authorization/authorization-server-discovery).
 */
export function createMetadataUrls({ origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/$/, '')
  const wellKnownUrls = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  )
  return path === '' ? wellKnownUrls : [...wellKnownUrls, `${origin}${path}/.well-known/openid-configuration`]
}

/**
 * Two issuers are one server if they differ at most in a slash at the end. They have the same metadata URLs (RFC 8414,
 * section 3.1), so neither can publish metadata in the name of the other.
 */
export function isSameIssuer(issuer: string, otherIssuer: string): boolean {
  return issuer.replace(/\/$/, '') === otherIssuer.replace(/\/$/, '')
}
