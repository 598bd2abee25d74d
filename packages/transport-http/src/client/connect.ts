import { checkOptions } from '@x/core'
import type { Connection } from '@x/schema'
import { createPlatformClient, type HttpClient } from './http-client.ts'
import { createRevisionCheck } from './revision-check.ts'
import { connectOptionNames, type HttpConnectOptions } from './options.ts'
import { createFetchSender, type Sender } from './sender.ts'

/** A connection to a server over HTTP, which holds sockets until it is closed. */
export interface HttpConnection extends Connection {
  /** The endpoint without its query, which may hold secrets. */
  readonly url: string
  /** Aborts with {@link close}, so that no caller retries. */
  readonly closed: AbortSignal
  /** Rejects running requests with an `HttpError` `closed`, and ends the connections. */
  close(): Promise<void>
}

/** Creates a connection with a platform's sender. Throws a `TypeError` for an invalid address or invalid headers. */
export function createConnection(url: string | URL, options: HttpConnectOptions, sender: Sender): HttpConnection {
  const checkReply = createRevisionCheck(() => client)
  const client: HttpClient = createPlatformClient(url, options, { sender, checkReply })
  const { exchange, closed, close } = client
  const canMixPrincipals = typeof options.headers === 'function'
  return { exchange, url: client.url, canMixPrincipals, closed, close, [Symbol.asyncDispose]: close }
}

/**
 * Connects to an MCP server over HTTP with the platform's `fetch`: the exchange that a client uses. No byte is sent
 * before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https, headers that cannot be sent, or an unknown option. The exchange rejects
 * with {@link HttpError} when no answer could be had (basic/transports/streamable-http).
 */
export function connectHttp(url: string | URL, options: HttpConnectOptions = {}): HttpConnection {
  checkOptions(options, connectOptionNames, 'connectHttp')
  return createConnection(url, options, createWebSender(options))
}

/**
 * Creates a client for plain HTTP requests to one endpoint, as connections to servers of earlier revisions need them.
 * No byte is sent before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https, or headers that cannot be sent.
 */
export function createHttpClient(url: string | URL, options: HttpConnectOptions = {}): HttpClient {
  return createPlatformClient(url, options, { sender: createWebSender(options) })
}

function createWebSender(options: HttpConnectOptions): Sender {
  // Called through the global, because a browser's fetch refuses to be a method of anything else.
  const fetch = options.fetch ?? ((address, request) => globalThis.fetch(address, request))
  return createFetchSender(fetch)
}
