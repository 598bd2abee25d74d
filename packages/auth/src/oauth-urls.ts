/** True for the names and addresses of this machine, as `hostname` of a URL has them. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  )
}

/** True for a URL that credentials and keys may travel to: https, or http on this machine (OAuth 2.1, section 1.5). */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}

/**
 * Parses a URL that credentials and keys may travel to.
 *
 * @throws TypeError for any other. `name` is the option in the message.
 */
export function parseSecureUrl(name: string, url: string): URL {
  if (!URL.canParse(url)) throw new TypeError(`${name} is ${JSON.stringify(url)}: write an absolute URL`)
  const parsedUrl = new URL(url)
  if (isSecureUrl(parsedUrl)) return parsedUrl
  throw new TypeError(`${name} is ${JSON.stringify(url)}: only https is safe, or http on a loopback address`)
}

/**
 * Returns the addresses where an authorization server may have its metadata, in the order of
 * basic/authorization/authorization-server-discovery: RFC 8414, then OpenID Connect Discovery 1.0.
 */
export function createMetadataUrls({ origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/$/, '')
  const wellKnownUrls = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  )
  return path === '' ? wellKnownUrls : [...wellKnownUrls, `${origin}${path}/.well-known/openid-configuration`]
}
