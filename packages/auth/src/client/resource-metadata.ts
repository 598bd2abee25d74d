import { quoteText } from '@x/core'
import { AuthError } from './auth-error.ts'
import type { JsonObject } from '@x/schema'
import { fetchFirstMetadata, stringsOf } from './fetch-server.ts'
import { isScope } from '../scopes.ts'
import { parseSafeUrl } from './safe-url.ts'

/** What a login uses of a protected resource's metadata (RFC 9728, section 2). */
export interface ResourceMetadata {
  /** Identifier of the resource, exactly as the metadata spells it. */
  readonly resource: string
  readonly issuers: readonly string[]
  readonly scopes: readonly string[] | undefined
}

const wellKnownPath = '/.well-known/oauth-protected-resource'

/**
 * Finds the metadata of the resource at an endpoint (basic/authorization/authorization-server-discovery). A server of
 * revision 2025-03-26 has none, so the endpoint's origin is taken as the authorization server. Throws {@link AuthError}
 * if the metadata is invalid, describes another resource, or is missing at the URL that the challenge names: if it names
 * one, no other is tried.
 */
export async function discoverResourceMetadata(
  endpoint: URL,
  metadataUrl: string | undefined,
  request: Parameters<typeof fetchFirstMetadata>[0],
): Promise<ResourceMetadata> {
  const givenUrl = metadataUrl === undefined ? undefined : parseSafeUrl(metadataUrl, endpoint, 'resource_metadata')
  const path = endpoint.pathname === '/' ? '' : endpoint.pathname
  const urls = givenUrl
    ? [givenUrl.href]
    : [...new Set([wellKnownPath + path, wellKnownPath])].map((pathname) => endpoint.origin + pathname)
  const found = await fetchFirstMetadata(request, urls)
  if (typeof found === 'object') return parseResourceMetadata(found.fields, endpoint, found.url)
  if (givenUrl === undefined && found === 'missing')
    return { resource: endpoint.origin + path, issuers: [endpoint.origin], scopes: undefined }
  const triedUrls = urls.join(' and ')
  throw new AuthError('metadata_invalid', `${endpoint.origin} asks for a token and has no metadata at ${triedUrls}`)
}

function parseResourceMetadata(fields: JsonObject, endpoint: URL, url: string): ResourceMetadata {
  const { resource } = fields
  if (typeof resource !== 'string' || !coversEndpoint(resource, endpoint)) {
    const namedResource = typeof resource === 'string' ? quoteText(resource) : 'no resource'
    const expected = `${endpoint.origin}${endpoint.pathname}`
    const advice =
      typeof resource === 'string'
        ? `Connect to the URL that it names, or have the server name ${expected}`
        : `It must name ${expected}`
    throw new AuthError('resource_mismatch', `The metadata at ${url} names ${namedResource}. ${advice}`)
  }
  const issuers = stringsOf(fields['authorization_servers']) ?? []
  if (issuers.length === 0) {
    throw new AuthError('metadata_invalid', `The metadata at ${url} names no authorization server`)
  }
  const scopes = stringsOf(fields['scopes_supported'])?.filter(isScope)
  return { resource, issuers, scopes: scopes?.length ? scopes : undefined }
}

/** Both must have the same origin, and the endpoint's path segments must begin with those of the resource. */
function coversEndpoint(resource: string, endpoint: URL): boolean {
  if (!URL.canParse(resource) || /[\s#]/.test(resource)) return false
  const url = new URL(resource)
  if (url.origin !== endpoint.origin || url.username !== '' || url.password !== '') return false
  if (url.search !== '' && url.search !== endpoint.search) return false
  const pathPrefix = url.pathname.replace(/\/$/, '')
  return endpoint.pathname === pathPrefix || endpoint.pathname.startsWith(`${pathPrefix}/`)
}
