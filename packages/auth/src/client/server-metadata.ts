import { quoteText } from '@x/core'
import type { AuthorizationServer } from 'oauth4webapi'
import { createMetadataUrls, isSameIssuer } from '../oauth-urls.ts'
import { AuthError } from './auth-error.ts'
import type { JsonObject } from '@x/schema'
import type { FetchFunction } from '../bounded-fetch.ts'
import { fetchFirstMetadata, stringsOf } from './fetch-server.ts'
import { parseSafeUrl } from './safe-url.ts'

export interface ServerQuery {
  readonly issuer: string
  /**
   * Address of the document that names the issuer. An issuer on a loopback address is accepted only from a document on
   * one.
   */
  readonly sourceUrl: URL
  /** How the server's own metadata spells the issuer, if the user has confirmed another spelling. */
  readonly alias?: string | undefined
  /** A server without metadata has the default endpoints of revision 2025-03-26, relative to its origin. */
  readonly hasDefaultEndpoints?: boolean | undefined
  readonly fetch: FetchFunction
  readonly signal: AbortSignal
}

const endpointNames = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'pushed_authorization_request_endpoint',
] as const

/**
 * Finds an authorization server's metadata by its issuer, at the URLs of RFC 8414 and OpenID Connect Discovery
 * (basic/authorization/authorization-server-discovery). Throws {@link AuthError} if there is none, or if it names
 * another issuer.
 */
export async function discoverServerMetadata(query: ServerQuery): Promise<AuthorizationServer> {
  const { issuer } = query
  const issuerUrl = parseSafeUrl(issuer, query.sourceUrl, 'The issuer')
  // Some servers publish the metadata of an issuer with a path at the root. It has to name the issuer all the same, and
  // the owner of the root owns the path.
  const urls = [...new Set([...createMetadataUrls(issuerUrl), ...createMetadataUrls(new URL(issuerUrl.origin))])]
  const found = await fetchFirstMetadata(query, urls)
  if (typeof found === 'object') return parseServerMetadata(found.fields, query, found.url)
  if (found === 'missing' && query.hasDefaultEndpoints !== undefined) return createDefaultMetadata(query, urls)
  throw new AuthError('metadata_invalid', describeMissingMetadata(issuer, urls), { issuer })
}

function describeMissingMetadata(issuer: string, urls: readonly string[]): string {
  return `The authorization server ${quoteText(issuer)} has no metadata at ${urls.join(', ')}`
}

/** 2025-03-26, basic/authorization, sections 2.3.3 and 2.1 for PKCE. */
function createDefaultMetadata(
  { issuer, hasDefaultEndpoints }: ServerQuery,
  urls: readonly string[],
): AuthorizationServer {
  if (hasDefaultEndpoints !== true) {
    const advice = "The option `endpoints: 'default'` of this issuer accepts a server without metadata"
    throw new AuthError('metadata_invalid', `${describeMissingMetadata(issuer, urls)}. ${advice}`, { issuer })
  }
  const { origin } = new URL(issuer)
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
  }
}

function parseServerMetadata(fields: JsonObject, query: ServerQuery, metadataUrl: string): AuthorizationServer {
  const { issuer, alias } = query
  const namedIssuer = fields['issuer']
  // RFC 8414, section 3.3: the issuer must be the one into which the well-known name was inserted, or one server could
  // publish the metadata of another. A slash at the end is removed before that, so both spellings have this URL.
  if (typeof namedIssuer !== 'string' || (!isSameIssuer(namedIssuer, issuer) && namedIssuer !== alias))
    throw createMismatchError(namedIssuer, issuer, metadataUrl)
  const endpointEntries = endpointNames.map((name) => [name, fields[name]] as const)
  const endpoints = Object.fromEntries(endpointEntries.filter(([, url]) => typeof url === 'string'))
  return { ...pickStringLists(fields), ...pickFlags(fields), ...endpoints, issuer: namedIssuer }
}

/**
 * Checks an endpoint's URL before it is used; one that no request uses may have any value. Throws {@link AuthError} for
 * a missing or an unsafe URL.
 */
export function requireEndpoint(
  { server, issuer }: { readonly server: AuthorizationServer; readonly issuer: string },
  name: (typeof endpointNames)[number],
): string {
  const url = server[name]
  if (url === undefined) throw new AuthError('metadata_invalid', `${quoteText(issuer)} has no ${name}`, { issuer })
  return parseSafeUrl(url, new URL(issuer), name).href
}

function createMismatchError(namedIssuer: unknown, issuer: string, metadataUrl: string): AuthError {
  const isText = typeof namedIssuer === 'string'
  const issuerText = isText ? quoteText(namedIssuer) : 'no issuer'
  const condition =
    isText && !isSameUrl(namedIssuer, issuer) ? ': set it only if you know that both are one server' : ''
  const advice = isText ? `. The option \`alias: ${issuerText}\` of this issuer accepts it${condition}` : ''
  const message = `The metadata at ${metadataUrl} names ${issuerText}, and it must be ${quoteText(issuer)}${advice}`
  return new AuthError('issuer_mismatch', message, { issuer })
}

function isSameUrl(url: string, otherUrl: string): boolean {
  return URL.canParse(url) && new URL(url).href === new URL(otherUrl).href
}

function pickStringLists(fields: JsonObject): Record<string, string[]> {
  const fieldNames = [
    'code_challenge_methods_supported',
    'scopes_supported',
    'token_endpoint_auth_methods_supported',
    'token_endpoint_auth_signing_alg_values_supported',
    'id_token_signing_alg_values_supported',
    'grant_types_supported',
    'dpop_signing_alg_values_supported',
  ]
  const stringLists = fieldNames.map((name) => [name, stringsOf(fields[name])] as const)
  return Object.fromEntries(stringLists.flatMap(([name, list]) => (list === undefined ? [] : [[name, [...list]]])))
}

function pickFlags(fields: JsonObject): Record<string, boolean> {
  const fieldNames = [
    'authorization_response_iss_parameter_supported',
    'client_id_metadata_document_supported',
    'require_pushed_authorization_requests',
  ]
  return Object.fromEntries(fieldNames.filter((name) => fields[name] === true).map((name) => [name, true]))
}
