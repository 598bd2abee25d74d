import type { JsonObject } from '@x/schema'
import { metadataUrls } from '../metadata-urls.ts'
import type { FetchFunction } from '../bounded-fetch.ts'
import { fetchJson } from './fetch-json.ts'

/**
 * Reads the metadata of an authorization server (RFC 8414, then OpenID Connect Discovery 1.0).
 *
 * Rejects when there is none, when the server cannot be reached, and when the metadata names another issuer.
 */
export async function discoverIssuerMetadata(issuer: string, fetch: FetchFunction): Promise<JsonObject> {
  const urls = metadataUrls(new URL(issuer))
  for (const url of urls) {
    const metadata = await fetchJson(url, fetch)
    if (metadata === undefined) continue
    // RFC 8414, section 3.3: what names another issuer is not used. Identical means the same characters.
    if (metadata['issuer'] === issuer) return metadata
    throw new Error(
      `${url} is metadata of ${JSON.stringify(metadata['issuer'])}: give that in issuers, in the place of "${issuer}"`,
    )
  }
  throw new Error(`The authorization server "${issuer}" has no metadata at ${urls.join(', ')}`)
}
