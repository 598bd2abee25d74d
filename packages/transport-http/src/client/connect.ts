import type { Connection } from '@x/schema'
import { createClientOver, type HttpClient } from './http-client.ts'
import { createRevisionCheck } from './revision-check.ts'
import type { HttpConnectOptions } from './options.ts'
import type { Sender } from './sender.ts'

/** A connection to a server over HTTP, which holds sockets until it is closed. */
export interface HttpConnection extends Connection {
  /** The endpoint without its query, which may hold secrets. */
  readonly url: string
  /** Aborts with {@link close}, for whoever would otherwise try again. */
  readonly closed: AbortSignal
  /** Rejects what is under way with an `HttpError` `closed`, and ends the connections. */
  close(): Promise<void>
}

/** Makes a connection of what a platform sends with. Throws a `TypeError` for an address or headers that cannot be. */
export function createConnection(url: string | URL, options: HttpConnectOptions, sender: Sender): HttpConnection {
  const checkReply = createRevisionCheck(() => client)
  const client: HttpClient = createClientOver(url, options, { sender, checkReply })
  const { exchange, closed, close } = client
  const mixedPrincipals = typeof options.headers === 'function'
  return { exchange, url: client.url, mixedPrincipals, closed, close, [Symbol.asyncDispose]: close }
}
