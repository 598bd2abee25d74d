import { isJsonObject, type JsonObject } from '@x/schema'
import { readBounded } from '../read-bounded.ts'

/** The platform's `fetch`, or one that behaves like it. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>

const maxBytes = 262_144
const timeoutMs = 5000

/**
 * Returns a fetch for what an authorization server says: without redirects, at most 256 KiB and 5 seconds. The body of its
 * response has been read.
 */
export function boundedFetch(fetch: FetchFunction): FetchFunction {
  return async (url, init) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const { status, headers } = response
    if (status < 200 || status >= 300) {
      await response.body?.cancel()
      // An opaque redirect of a browser's fetch has status 0, which no response can be made with.
      return new Response(null, { status: status < 200 ? 502 : status })
    }
    const body = await readBounded(response, maxBytes)
    if (body === undefined) throw new Error(`${url} answered with more than ${maxBytes} bytes`)
    return new Response(body, { status: 200, headers })
  }
}

/** Reads a JSON object with a GET; undefined when this URL answers anything else. Rejects when there is no answer. */
export async function fetchJson(url: string, fetch: FetchFunction): Promise<JsonObject | undefined> {
  const response = await fetch(url, { method: 'GET', headers: { Accept: 'application/json' } })
  if (response.status !== 200) return undefined
  return parseObject(await response.text())
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Returns a URL that credentials and keys may travel to: https, or http on this machine (OAuth 2.1, section 1.5).
 *
 * @throws TypeError for any other; `name` says which it was.
 */
export function secureUrl(name: string, url: string): URL {
  if (!URL.canParse(url)) throw new TypeError(`${name} is ${JSON.stringify(url)}: write an absolute URL`)
  const parsed = new URL(url)
  const isSecure = parsed.protocol === 'https:' || (parsed.protocol === 'http:' && loopback.test(parsed.hostname))
  if (!isSecure)
    throw new TypeError(`${name} is ${JSON.stringify(url)}: only https is safe, or http on a loopback address`)
  return parsed
}
