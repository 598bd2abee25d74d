import type { AuthorizationServer } from 'oauth4webapi'
import { createMetadataUrls } from '../oauth-urls.ts'
import { AuthError, isAuthError, quoteText } from './auth-error.ts'
import type { JsonObject } from '@x/schema'
import type { FetchFunction } from '../bounded-fetch.ts'
import { fetchFromServer, metadataTimeoutMs, readJsonObject, stringsOf } from './fetch-server.ts'
import { parseSafeUrl } from './safe-url.ts'

/** A request for the metadata of an authorization server. */
export interface ServerQuery {
  readonly issuer: string
  /** The address of the document that names the issuer. A loopback issuer is only accepted from a loopback address. */
  readonly sourceUrl: URL
  /** Another spelling of the issuer in its own metadata, which the user vouches for. */
  readonly alias?: string | undefined
  /** True where a server without metadata has the endpoints of revision 2025-03-26, relative to its origin. */
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
 * Finds the metadata of an authorization server by its issuer, in the forms of RFC 8414 and OpenID Connect Discovery
 * (basic/authorization/authorization-server-discovery). Throws {@link AuthError} when there is none that is its own.
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

/** Returns the endpoints of a server without metadata (2025-03-26, basic/authorization, 2.3.3, with PKCE as in 2.1). */
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
  // RFC 8414, section 3.3: identical, so no normalization. It keeps a document of one server from speaking for another.
  if (typeof namedIssuer !== 'string' || (namedIssuer !== issuer && namedIssuer !== alias)) {
    const issuerText = typeof namedIssuer === 'string' ? quoteText(namedIssuer) : 'no issuer'
    const advice = isSameUrl(namedIssuer, issuer)
      ? `. The option \`alias: ${issuerText}\` of this issuer accepts it`
      : ''
    const message = `The metadata at ${metadataUrl} names ${issuerText}, and it must be ${quoteText(issuer)}${advice}`
    throw new AuthError('issuer_mismatch', message, { issuer })
  }
  const endpointUrls: Record<string, string> = {}
  for (const endpointName of endpointNames) {
    const url = fields[endpointName]
    if (typeof url === 'string') endpointUrls[endpointName] = parseSafeUrl(url, new URL(issuer), endpointName).href
  }
  return { ...pickStringLists(fields), ...pickFlags(fields), ...endpointUrls, issuer: namedIssuer }
}

/** Returns true for two spellings of one URL. The metadata of another server is never worth an option. */
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
