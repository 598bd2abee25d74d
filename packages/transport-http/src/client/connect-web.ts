import { createConnection, type HttpConnection } from './connect.ts'
import type { HttpConnectOptions } from './options.ts'
import { fetchSender } from './send-fetch.ts'

/**
 * Connects to an MCP server over HTTP with the platform's `fetch`: the exchange that a client uses. No byte is sent before
 * the first request.
 *
 * Throws a `TypeError` for an address that is not http or https, or headers that cannot be sent. The exchange rejects
 * with {@link HttpError} when no answer could be had (basic/transports/streamable-http).
 */
export function connectHttp(url: string | URL, options: HttpConnectOptions = {}): HttpConnection {
  // Called through the global, because a browser's fetch refuses to be a method of anything else.
  const fetch = options.fetch ?? ((address, request) => globalThis.fetch(address, request))
  return createConnection(url, options, fetchSender(fetch))
}
