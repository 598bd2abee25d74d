import { parseJsonObject } from '@x/core'
import type { JsonObject } from '@x/schema'
import { boundedFetch, type FetchFunction } from '../bounded-fetch.ts'
import { createMetadataUrls } from '../oauth-urls.ts'

const fetchBounds = {
  timeoutMs: 5000,
  // limit: keys of an issuer | bytes | a key set | the token is rejected
  maxBytes: 262_144,
}

/** Follows no redirects, and stops at 256 KiB and 5 seconds. */
export function createIssuerFetch(fetch: FetchFunction): FetchFunction {
  return (url, request) => boundedFetch(fetch, url, { ...request, ...fetchBounds })
}

/** Undefined if the content is no JSON object. Rejects if no response arrives. */
export async function fetchJson(url: string, fetch: FetchFunction): Promise<JsonObject | undefined> {
  const response = await fetch(url, { method: 'GET', headers: { Accept: 'application/json' } })
  return response.status === 200 ? parseJsonObject(await response.text()) : undefined
}

/**
 * Fetches an authorization server's metadata (RFC 8414, then OpenID Connect Discovery 1.0).
 *
 * Rejects if there is none, if the server cannot be reached, and if the metadata names another issuer.
 */
export async function discoverIssuerMetadata(issuer: string, fetch: FetchFunction): Promise<JsonObject> {
  const urls = createMetadataUrls(new URL(issuer))
  for (const url of urls) {
    const metadata = await fetchJson(url, fetch)
    if (metadata === undefined) continue
    // RFC 8414, section 3.3: the metadata must name the same issuer, character for character.
    if (metadata['issuer'] === issuer) return metadata
    throw new Error(
      `${url} is metadata of ${JSON.stringify(metadata['issuer'])}: give that in issuers, in the place of "${issuer}"`,
    )
  }
  throw new Error(`The authorization server "${issuer}" has no metadata at ${urls.join(', ')}`)
}
