import type { JsonObject } from '@x/schema'
import { parseSecureUrl } from '../oauth-urls.ts'
import { proofAlgorithms } from './dpop.ts'
import type { Scopes } from '../scopes.ts'

/** A public document that the HTTP transport serves to every client. */
export interface MetadataDocument {
  readonly body: JsonObject
}

const wellKnownPath = '/.well-known/oauth-protected-resource'

/**
 * Makes the URI of the endpoint canonical, as clients send it: scheme and host in lower case, and no slash after a host
 * without a path (basic/authorization/index, canonical server URI).
 *
 * @throws TypeError for a URI with a fragment or with a slash at the end of its path, and for one that is neither https
 * nor on this machine.
 */
export function canonicalizeResource(resource: string): string {
  const { hash, pathname, search, origin } = parseSecureUrl('resource', resource)
  if (hash !== '' || resource.includes('#'))
    throw new TypeError(`resource is "${resource}": leave the fragment out (RFC 8707, section 2)`)
  if (pathname === '/') return origin + search
  if (!pathname.endsWith('/')) return origin + pathname + search
  throw new TypeError(`resource is "${resource}": leave the slash at its end out, since audiences are compared exactly`)
}

/** RFC 9728, section 3.1: the well-known path comes before the path of the resource. */
export function createMetadataUrl(resource: string): string {
  const { origin, search } = new URL(resource)
  return origin + createMetadataPath(resource) + search
}

function createMetadataPath(resource: string): string {
  const { pathname } = new URL(resource)
  return pathname === '/' ? wellKnownPath : wellKnownPath + pathname
}

/**
 * RFC 9728, under both paths where clients look: the well-known path followed by the path of the resource, and the
 * well-known path alone.
 */
export function createMetadataDocuments({
  resource,
  issuers,
  scopes,
  dpop,
  hasCertificateBoundTokens,
}: {
  readonly resource: string
  readonly issuers: readonly string[]
  readonly scopes: Scopes
  readonly dpop: 'accepted' | 'required' | undefined
  readonly hasCertificateBoundTokens: boolean
}): Readonly<Record<string, MetadataDocument>> {
  const document: MetadataDocument = {
    body: {
      resource,
      authorization_servers: [...issuers],
      ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
      bearer_methods_supported: ['header'],
      ...(dpop !== undefined && { dpop_signing_alg_values_supported: [...proofAlgorithms] }),
      ...(dpop === 'required' && { dpop_bound_access_tokens_required: true }),
      ...(hasCertificateBoundTokens && { tls_client_certificate_bound_access_tokens: true }),
    },
  }
  return { [createMetadataPath(resource)]: document, [wellKnownPath]: document }
}
