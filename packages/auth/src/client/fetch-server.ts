import { parseJsonObject } from '@x/core'
import type { JsonObject } from '@x/schema'
import { boundedFetch, type FetchFunction, isRedirectResponse } from '../bounded-fetch.ts'
import { AuthError, isAuthError } from './auth-error.ts'

// limit: login documents | bytes | a document of an issuer | the login fails
const maxBytes = 65_536
// limit: login metadata | ms | a metadata document | the login fails
const metadataTimeoutMs = 5000
/** For one response of an authorization server's endpoint. */
export const endpointTimeoutMs = 30_000

/**
 * Sends a request of a login, with limits of time and bytes, and reads the body into memory. Throws {@link AuthError}
 * `server_unavailable` for a redirect, and if no usable response arrives.
 */
export async function fetchFromServer(
  fetch: FetchFunction,
  url: string,
  request: RequestInit & { readonly timeoutMs: number },
): Promise<Response> {
  const response = await fetchBounded(fetch, url, request)
  if (!isRedirectResponse(response)) return response
  throw createRedirectError(response, url)
}

function fetchBounded(
  fetch: FetchFunction,
  url: string,
  request: RequestInit & { readonly timeoutMs: number },
): Promise<Response> {
  return boundedFetch(fetch, url, { ...request, maxBytes }).catch((error: unknown) => {
    if (request.signal?.aborted || !(error instanceof Error)) throw error
    throw new AuthError('server_unavailable', error.message, { cause: error.cause })
  })
}

const maxRedirects = 3

/**
 * Fetches the first metadata document that one of the URLs has. Without one, it throws the last {@link AuthError}, or
 * says whether the document is missing at each URL.
 */
export async function fetchFirstMetadata(
  query: Parameters<typeof fetchMetadata>[0] & { readonly issuer?: string },
  urls: readonly string[],
): Promise<{ readonly fields: JsonObject; readonly url: string } | 'missing' | 'unusable'> {
  const { issuer } = query
  let failure: AuthError | undefined
  let missingCount = 0
  for (const url of urls) {
    try {
      const response = await fetchMetadata(query, url)
      const { status } = response
      if (status >= 500) throw new AuthError('server_unavailable', `${url} answered ${status}`, { issuer })
      if (status === 404) missingCount += 1
      const fields = status === 200 ? await readJsonObject(response) : undefined
      if (fields !== undefined) return { fields, url }
    } catch (error) {
      if (!isAuthError(error)) throw error
      failure = error
    }
  }
  if (failure !== undefined) throw failure
  return missingCount === urls.length ? 'missing' : 'unusable'
}

/**
 * Fetches a metadata document, with limits of time and bytes. Follows redirects within its origin: another origin could
 * not speak for it. Throws {@link AuthError} `server_unavailable` for any other redirect, and if no usable response
 * arrives.
 */
async function fetchMetadata(
  { fetch, signal }: { readonly fetch: FetchFunction; readonly signal: AbortSignal },
  url: string,
): Promise<Response> {
  let currentUrl = url
  for (let redirects = 0; ; redirects += 1) {
    const request = { headers: { accept: 'application/json' }, timeoutMs: metadataTimeoutMs, signal }
    const response = await fetchBounded(fetch, currentUrl, request)
    if (!isRedirectResponse(response)) return response
    const target = findRedirectTarget(response, currentUrl)
    if (target?.origin !== new URL(url).origin || redirects === maxRedirects)
      throw createRedirectError(response, currentUrl)
    currentUrl = target.href
  }
}

function findRedirectTarget({ headers }: Response, url: string): URL | undefined {
  const location = headers.get('location')
  return location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined
}

function createRedirectError(response: Response, url: string): AuthError {
  const target = findRedirectTarget(response, url)
  const place = target === undefined ? '' : ` to ${target.origin}`
  const remedy = 'a login follows redirects of metadata alone, and within one origin'
  return new AuthError('server_unavailable', `${new URL(url).origin} redirects${place}: ${remedy}`)
}

/** Undefined for another format, such as an HTML page. */
export async function readJsonObject(response: Response): Promise<JsonObject | undefined> {
  return parseJsonObject(await response.text())
}

/** Undefined for a value that is no array. */
export function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : undefined
}
