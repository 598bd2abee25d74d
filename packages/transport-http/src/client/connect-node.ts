import { createConnection, type HttpConnection } from './connect.ts'
import { createClientOver, type HttpClient } from './http-client.ts'
import type { HttpConnectOptions } from './options.ts'
import type { Sender } from './sender.ts'
import { fetchSender } from './send-fetch.ts'
import { type UndiciOptions, undiciSender } from './send-undici.ts'

/** The options of `connectHttp` on Node. */
export interface NodeConnectOptions extends HttpConnectOptions, UndiciOptions {}

/**
 * Connects to an MCP server over HTTP: the exchange that a client uses. No byte is sent before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https, or headers that cannot be sent. The exchange rejects
 * with {@link HttpError} when no answer could be had (basic/transports/streamable-http).
 *
 * @example
 * await using connection = connectHttp('https://example.com/mcp', { headers: { authorization: `Bearer ${token}` } })
 * const client = createClient(connection, { name: 'host', version: '1.0.0' })
 */
export function connectHttp(url: string | URL, options: NodeConnectOptions = {}): HttpConnection {
  return createConnection(url, options, nodeSender(options))
}

/**
 * Makes a client for one endpoint, whose plain requests carry what is no message of this revision: what connections to
 * servers of earlier revisions are built on. No byte is sent before the first request.
 *
 * Throws a `TypeError` for an address that is not http or https, or headers that cannot be sent.
 */
export function createHttpClient(url: string | URL, options: NodeConnectOptions = {}): HttpClient {
  return createClientOver(url, options, { sender: nodeSender(options) })
}

function nodeSender(options: NodeConnectOptions): Sender {
  return options.fetch ? fetchSender(options.fetch) : undiciSender(options)
}
