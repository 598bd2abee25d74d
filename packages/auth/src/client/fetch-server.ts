import { parseJsonObject } from '@x/core'
import type { JsonObject } from '@x/schema'
import { boundedFetch, type FetchFunction, isRedirectResponse } from '../bounded-fetch.ts'
import { AuthError } from './auth-error.ts'

const maxBytes = 65_536
/** The time limit in milliseconds for fetching one metadata document. */
export const metadataTimeoutMs = 5000
/** The time limit in milliseconds for one response of an authorization server's endpoint. */
export const endpointTimeoutMs = 30_000

/**
 * Sends a request of a login, with limits for time and bytes. Returns the response with its body in memory. Throws
 * {@link AuthError} `server_unavailable` for a redirect, and if no usable response arrives.
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

/** Reads a body as a JSON object. Returns `undefined` if the body has another format, such as an HTML page. */
export async function readJsonObject(response: Response): Promise<JsonObject | undefined> {
  return parseJsonObject(await response.text())
}

/** Returns the strings in an array. Returns undefined for a value that is not an array. */
export function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : undefined
}
