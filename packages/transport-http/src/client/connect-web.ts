import { createConnection, type HttpConnection } from './connect.ts'
import { createClientOver, type HttpClient } from './http-client.ts'
import type { HttpConnectOptions } from './options.ts'
import type { Sender } from './sender.ts'
import { fetchSender } from './send-fetch.ts'

/**
 * Connects to an MCP server over HTTP with the platform's `fetch`: the exchange that a client uses. No byte is sent
 * before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https, or headers that cannot be sent. The exchange rejects
 * with {@link HttpError} when no answer could be had (basic/transports/streamable-http).
 */
export function connectHttp(url: string | URL, options: HttpConnectOptions = {}): HttpConnection {
  return createConnection(url, options, webSender(options))
}

/**
 * Makes a client for one endpoint, whose plain requests carry what is no message of this revision: what connections to
 * servers of earlier revisions are built on. No byte is sent before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https, or headers that cannot be sent.
 */
export function createHttpClient(url: string | URL, options: HttpConnectOptions = {}): HttpClient {
  return createClientOver(url, options, { sender: webSender(options) })
}

function webSender(options: HttpConnectOptions): Sender {
  // Called through the global, because a browser's fetch refuses to be a method of anything else.
  const fetch = options.fetch ?? ((address, request) => globalThis.fetch(address, request))
  return fetchSender(fetch)
}
