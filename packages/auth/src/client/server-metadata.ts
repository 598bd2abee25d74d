import type { AuthorizationServer } from 'oauth4webapi'
import { createMetadataUrls } from '../oauth-urls.ts'
import { AuthError, isAuthError, quoteText } from './auth-error.ts'
import type { JsonObject } from '@x/schema'
import type { FetchFunction } from '../bounded-fetch.ts'
import { fetchFromServer, metadataTimeoutMs, readJsonObject, stringsOf } from './fetch-server.ts'
import { parseSafeUrl } from './safe-url.ts'

/** The parameters of the search for the metadata of an authorization server. */
export interface ServerQuery {
  readonly issuer: string
  /**
   * The address of the document that names the issuer. An issuer on a loopback address is accepted only if the document
   * is on a loopback address too.
   */
  readonly sourceUrl: URL
  /** The spelling of the issuer in the server's own metadata, if the user has confirmed another spelling. */
  readonly alias?: string | undefined
  /**
   * True if a server without metadata is used with the default endpoints of revision 2025-03-26, relative to its
   * origin.
   */
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
 * Finds the metadata of an authorization server by its issuer, at the URLs of RFC 8414 and OpenID Connect Discovery
 * (basic/authorization/authorization-server-discovery). Throws {@link AuthError} if there is none, or if it names
 * another issuer.
 */
export async function discoverServerMetadata(query: ServerQuery): Promise<AuthorizationServer> {
  const { issuer, fetch, signal } = query
  const urls = createMetadataUrls(parseSafeUrl(issuer, query.sourceUrl, 'The issuer'))
  let failure: AuthError | undefined
  let missingCount = 0
  for (const url of urls) {
    const request = { headers: { accept: 'application/json' }, timeoutMs: metadataTimeoutMs, signal }
    const response = await fetchFromServer(fetch, url, request).catch((error: unknown) => {
      if (!isAuthError(error)) throw error
      failure = error
    })
    if (response === undefined) continue
    if (response.status === 404) missingCount += 1
    if (response.status >= 500) {
      failure = new AuthError('server_unavailable', `${url} answered ${response.status}`, { issuer })
    }
    const fields = response.status === 200 ? await readJsonObject(response) : undefined
    if (fields !== undefined) return parseServerMetadata(fields, query, url)
  }
  if (failure !== undefined) throw failure
  if (query.hasDefaultEndpoints === true && missingCount === urls.length) return createDefaultMetadata(issuer)
  const message = `The authorization server ${quoteText(issuer)} has no metadata at ${urls.join(', ')}`
  throw new AuthError('metadata_invalid', message, { issuer })
}

/**
 * Returns the default endpoints of a server without metadata (2025-03-26, basic/authorization, sections 2.3.3 and 2.1
 * for PKCE).
 */
function createDefaultMetadata(issuer: string): AuthorizationServer {
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
  // RFC 8414, section 3.3: the issuers must be identical strings. Otherwise one server could publish the metadata of
  // another.
  if (typeof namedIssuer !== 'string' || (namedIssuer !== issuer && namedIssuer !== alias)) {
    const issuerText = typeof namedIssuer === 'string' ? quoteText(namedIssuer) : 'no issuer'
    const advice = isSameUrl(namedIssuer, issuer)
      ? `. The option \`alias: ${issuerText}\` of this issuer accepts it`
      : ''
    const message = `The metadata at ${metadataUrl} names ${issuerText}, and it must be ${quoteText(issuer)}${advice}`
    throw new AuthError('issuer_mismatch', message, { issuer })
  }
  const endpointEntries = endpointNames.map((name) => [name, fields[name]] as const)
  const endpoints = Object.fromEntries(endpointEntries.filter(([, url]) => typeof url === 'string'))
  return { ...pickStringLists(fields), ...pickFlags(fields), ...endpoints, issuer: namedIssuer }
}

/**
 * Returns the URL of an endpoint before it is used. An endpoint that no request uses may have any value. Throws
 * {@link AuthError} for a missing or an unsafe URL.
 */
export function requireEndpoint(
  { server, issuer }: { readonly server: AuthorizationServer; readonly issuer: string },
  name: (typeof endpointNames)[number],
): string {
  const url = server[name]
  if (url === undefined) throw new AuthError('metadata_invalid', `${quoteText(issuer)} has no ${name}`, { issuer })
  return parseSafeUrl(url, new URL(issuer), name).href
}

/**
 * Returns true if two issuers are spellings of one URL. Only then does the error message suggest the option `alias`.
 */
function isSameUrl(namedIssuer: unknown, issuer: string): boolean {
  return (
    typeof namedIssuer === 'string' && URL.canParse(namedIssuer) && new URL(namedIssuer).href === new URL(issuer).href
  )
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
