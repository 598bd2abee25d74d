import { findPageOrigin, resolveOptions } from '@x/core'
import type { Call, Connection, ObservableState } from '@x/exchange'
import type { RpcNotification } from '@x/schema'
import { createPlatformClient, type HttpClient } from './http-client.ts'
import { createRevisionCheck } from './revision-check.ts'
import { HttpError } from './http-error.ts'
import { connectOptionTable, type HttpConnectOptions, type ResolvedConnectOptions } from './options.ts'
import { createFetchSender, type Sender } from './sender.ts'

/** A connection to a server over HTTP. Sockets stay open until you call `close`. */
export interface HttpConnection extends Connection, ObservableState {
  readonly state: ObservableState['state']
  readonly onStateChange: ObservableState['onStateChange']
  /** URL of the endpoint without its query, which may contain secrets. */
  readonly url: string
  /** Aborts when the connection is closed, so that no caller retries. */
  readonly closed: AbortSignal
  /** Sends a notification. Rejects with an `HttpError` if the server does not accept it. */
  notify(notification: RpcNotification, call: Pick<Call, 'signal'>): Promise<void>
  /** Rejects running requests with an `HttpError` `closed`, and closes the sockets. */
  close(): Promise<void>
}

/** Connects through a platform's sender. Throws a `TypeError` for an invalid URL or an invalid header. */
export function createConnection(url: string | URL, options: ResolvedConnectOptions, sender: Sender): HttpConnection {
  const checkReply = createRevisionCheck(() => client, options.runtime)
  const client: HttpClient = createPlatformClient(url, options, { sender, checkReply })
  const { exchange, notify, closed, close, onStateChange } = client
  return {
    exchange,
    notify,
    url: client.url,
    canMixPrincipals: typeof options.headers === 'function',
    get state() {
      return client.state
    },
    onStateChange,
    closed,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Connects to an MCP server over HTTP with the `fetch` of the platform. Pass the result to `createClient`. Nothing is
 * sent before the first request. Throws a `TypeError` for a URL that is not http or https, an invalid header, or an
 * unknown option. If no response arrives, a request rejects with {@link HttpError} (basic/transports/streamable-http).
 */
export function connectHttp(url: string | URL, options: HttpConnectOptions = {}): HttpConnection {
  return createConnection(url, resolveOptions(options, connectOptionTable, 'connectHttp'), createWebSender(options))
}

/**
 * Sends HTTP requests to one endpoint, for connections to servers of earlier revisions. Nothing is sent before the
 * first request. Throws a `TypeError` for a URL that is not http or https, an invalid header, or an unknown option.
 */
export function createHttpClient(url: string | URL, options: HttpConnectOptions = {}): HttpClient {
  const resolved = resolveOptions(options, connectOptionTable, 'createHttpClient')
  return createPlatformClient(url, resolved, { sender: createWebSender(options) })
}

function createWebSender(options: HttpConnectOptions): Sender {
  // Called as a member of `globalThis`, because the `fetch` of a browser rejects any other `this`.
  const fetch = options.fetch ?? ((address, request) => globalThis.fetch(address, request))
  return explainPageFailures(createFetchSender(fetch))
}

/** In a page, tells a response that the browser withholds from a server that is unreachable. */
function explainPageFailures(sender: Sender): Sender {
  const send: Sender['send'] = async (request) => {
    try {
      return await sender.send(request)
    } catch (error) {
      const page = findPageOrigin()
      const { origin } = request.url
      if (page === undefined || page === origin || request.signal.aborted) throw error
      const question = `in a page: does the server allow the origin ${page} (CORS)?`
      const isAnswered = await answersPages(request.url)
      const message = isAnswered ? 'the browser withholds the answer' : 'the connection ended before the answer'
      throw new HttpError(isAnswered ? 'cors' : 'closed', `${message}; ${question}`, { origin, cause: error })
    }
  }
  return { ...sender, send }
}

/** True if a server answers a request whose response no page can read. A refusal of the origin is not final there. */
function answersPages(url: URL): Promise<boolean> {
  const request = { method: 'HEAD', mode: 'no-cors', credentials: 'omit' } as const
  return globalThis.fetch(url.href, request).then(
    () => true,
    () => false,
  )
}
