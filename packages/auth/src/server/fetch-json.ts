import type { JsonObject } from '@x/schema'
import { boundedFetch, type FetchFunction, parseJsonObject } from '../bounded-fetch.ts'

const fetchBounds = { timeoutMs: 5000, maxBytes: 262_144 }

/** Returns a fetch for what an authorization server says: without redirects, at most 256 KiB and 5 seconds. */
export function createIssuerFetch(fetch: FetchFunction): FetchFunction {
  return (url, request) => boundedFetch(fetch, url, { ...request, ...fetchBounds })
}

/** Reads a JSON object with a GET; undefined when this URL answers anything else. Rejects when there is no answer. */
export async function fetchJson(url: string, fetch: FetchFunction): Promise<JsonObject | undefined> {
  const response = await fetch(url, { method: 'GET', headers: { Accept: 'application/json' } })
  return response.status === 200 ? parseJsonObject(await response.text()) : undefined
}
