import { parseJsonObject } from '@x/core'
import type { JsonObject } from '@x/schema'
import { boundedFetch, type FetchFunction, isRedirectResponse } from '../bounded-fetch.ts'
import { AuthError } from './auth-error.ts'

const maxBytes = 65_536
/** The longest time in milliseconds for a metadata document. */
export const metadataTimeoutMs = 5000
/** The longest time in milliseconds for a response of an authorization server's endpoint. */
export const endpointTimeoutMs = 30_000

/**
 * Fetches from a server of a login, bounded in bytes and time, and returns the response with its body in memory. Throws
 * {@link AuthError} `server_unavailable` when no usable response came, or a redirect.
 */
export async function fetchFromServer(
  fetch: FetchFunction,
  url: string,
  request: RequestInit & { readonly timeoutMs: number },
): Promise<Response> {
  const response = await boundedFetch(fetch, url, { ...request, maxBytes }).catch((error: unknown) => {
    if (request.signal?.aborted || !(error instanceof Error)) throw error
    throw new AuthError('server_unavailable', error.message, { cause: error.cause })
  })
  if (!isRedirectResponse(response)) return response
  throw new AuthError('server_unavailable', `${new URL(url).origin} redirects, which is not followed here`)
}

/** Reads a body that should be a JSON object. Returns `undefined` for anything else, such as a page. */
export async function readJsonObject(response: Response): Promise<JsonObject | undefined> {
  return parseJsonObject(await response.text())
}

/** Returns the strings of an array; undefined for a value that is not an array. */
export function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : undefined
}
