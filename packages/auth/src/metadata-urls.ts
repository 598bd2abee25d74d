/**
 * Returns the addresses where an authorization server may have its metadata, in the order of
 * basic/authorization/authorization-server-discovery: RFC 8414, then OpenID Connect Discovery 1.0.
 */
export function metadataUrls({ origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/$/, '')
  const insertedUrls = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  )
  return path === '' ? insertedUrls : [...insertedUrls, `${origin}${path}/.well-known/openid-configuration`]
}
