import { Agent, type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { codeOf, isCancelled, onCancel, type OptionTable, resolveOptions } from '@x/core'
import { createConnection, type HttpConnection } from './connect.ts'
import { createPlatformClient, type HttpClient } from './http-client.ts'
import { IncomingBody } from './incoming-body.ts'
import { connectOptionTable, type HttpConnectOptions } from './options.ts'
import { proxyErrorCodes } from './platform-error.ts'
import { createFetchSender, type IncomingResponse, type OutgoingRequest, type Sender } from './sender.ts'

/** Options of `connectHttp` on Node. */
export interface NodeConnectOptions extends HttpConnectOptions {
  /**
   * Sends requests through this dispatcher of undici 7 or later, such as a `ProxyAgent`. It must not follow redirects,
   * and closing the connection does not close it. By default the connection creates its own, which uses `HTTP_PROXY`,
   * `HTTPS_PROXY` and `NO_PROXY` if `NODE_USE_ENV_PROXY` is 1, as the `fetch` of Node does. Not used if `fetch` is
   * given.
   */
  readonly dispatcher?: Dispatcher | undefined
  /**
   * Options of undici's connector, such as `ca`, `cert`, `key` and `servername` for TLS. Its `timeout` limits the time
   * in milliseconds for opening a connection, including TLS. Default: 10,000. Not used if `dispatcher` or `fetch` is
   * given.
   */
  readonly connect?: buildConnector.BuildOptions | undefined
}

const nodeOptionTable = {
  ...connectOptionTable,
  dispatcher: undefined,
  connect: undefined,
} satisfies OptionTable<NodeConnectOptions>

/**
 * Connects to an MCP server over HTTP. Pass the result to `createClient`. Nothing is sent before the first request.
 *
 * Throws a `TypeError` for a URL that is not http or https, an invalid header, or an unknown option. If no response
 * arrives, a request rejects with {@link HttpError} (basic/transports/streamable-http).
 *
 * @example
 * await using connection = connectHttp('https://example.com/mcp', { headers: { authorization: `Bearer ${token}` } })
 * const client = createClient(connection, { name: 'host', version: '1.0.0' })
 */
export function connectHttp(url: string | URL, options: NodeConnectOptions = {}): HttpConnection {
  return createConnection(url, resolveOptions(options, nodeOptionTable, 'connectHttp'), createNodeSender(options))
}

/**
 * Sends HTTP requests to one endpoint, for connections to servers of earlier revisions. Nothing is sent before the
 * first request. Throws a `TypeError` for a URL that is not http or https, an invalid header, or an unknown option.
 */
export function createHttpClient(url: string | URL, options: NodeConnectOptions = {}): HttpClient {
  const resolved = resolveOptions(options, nodeOptionTable, 'createHttpClient')
  return createPlatformClient(url, resolved, { sender: createNodeSender(options) })
}

function createNodeSender(options: NodeConnectOptions): Sender {
  return options.fetch ? createFetchSender(options.fetch) : createUndiciSender(options)
}

/**
 * Uses undici's `dispatch`, which passes each chunk directly to a handler; its `request` would create a stream for each
 * body, and its `fetch` several.
 */
function createUndiciSender(options: Pick<NodeConnectOptions, 'dispatcher' | 'connect'>): Sender {
  const ownDispatcher = options.dispatcher ? undefined : createOwnDispatcher(options)
  return {
    isContentDecoded: false,
    send: (outgoingRequest) =>
      new Promise((resolve, reject) => {
        const { url, method, headers, body } = outgoingRequest
        const request = {
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers: headers as string[],
          body: body ?? null,
          // undici's own timeout would end a stream after five minutes without bytes. `startTimeoutWatch` limits the
          // time instead.
          headersTimeout: 0,
          bodyTimeout: 0,
        } as const
        const dispatcher = options.dispatcher ?? ownDispatcher?.dispatcherFor(url.origin)
        dispatcher?.dispatch(request, createDispatchHandler(outgoingRequest, resolve, reject))
      }),
    close: async () => ownDispatcher?.destroy(),
  }
}

/**
 * Uses a single connection until two requests run at the same time, because most clients send one after the other, and
 * a pool would reserve 20 KB for queued requests.
 */
function createOwnDispatcher(options: Pick<NodeConnectOptions, 'dispatcher' | 'connect'>): {
  dispatcherFor(origin: string): Dispatcher
  destroy(): Promise<void>
} {
  const connect = { timeout: 10_000, ...options.connect }
  if (process.env['NODE_USE_ENV_PROXY'] === '1') {
    const clientFactory = (proxy: URL, proxyOptions: object): Dispatcher =>
      createProxyClient(proxy, { ...proxyOptions, headersTimeout: connect.timeout })
    const proxyAgent = new EnvHttpProxyAgent({ connections: null, connect, requestTls: connect, clientFactory })
    return { dispatcherFor: () => proxyAgent, destroy: () => proxyAgent.destroy() }
  }
  let firstConnection: { readonly origin: string; readonly client: Client } | undefined
  let agent: Agent | undefined
  return {
    dispatcherFor(origin) {
      firstConnection ??= { origin, client: new Client(origin, { connect }) }
      if (firstConnection.origin === origin && firstConnection.client.stats.size === 0) return firstConnection.client
      agent ??= new Agent({ connections: null, connect })
      return agent
    },
    destroy: async () => void (await Promise.all([firstConnection?.client.destroy(), agent?.destroy()])),
  }
}

const proxyTimeoutCodes: ReadonlySet<string | undefined> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
])

function createProxyError(proxyOrigin: string, cause: Error): Error {
  const causeCode = codeOf(cause)
  const isTimeout = proxyTimeoutCodes.has(causeCode)
  const message = `no connection to the proxy ${proxyOrigin}${isTimeout ? ' in time' : ` (${causeCode ?? cause.message})`}`
  const code = isTimeout ? proxyErrorCodes.timeout : proxyErrorCodes.unreachable
  return Object.assign(new Error(message, { cause }), { code })
}

/**
 * Opens the tunnels of a proxy. By itself, undici takes an unreachable proxy for an unreachable server, asks one that
 * closes the connection again and again, without a pause, and waits five minutes for one that says nothing.
 */
function createProxyClient(proxy: URL, options: Pool.Options): Dispatcher {
  const pool = new Pool(proxy, options)
  const connect = (tunnel: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> =>
    new Promise((resolve, reject) => {
      Pool.prototype.connect.call(pool, tunnel, (cause, data) => {
        if (cause === null) return resolve(data)
        reject(createProxyError(proxy.origin, cause))
      })
    })
  return Object.assign(pool, { connect })
}

function createDispatchHandler(
  outgoingRequest: OutgoingRequest,
  resolve: (incomingResponse: IncomingResponse) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  let body: IncomingBody | undefined
  // undici cannot stop a request before `onRequestStart`, so one that was stopped earlier is stopped there.
  const stop = (): void => {
    // No caller receives this error, because a cancelled request has already rejected with its own reason.
    if (!body?.isFinished()) controller?.abort(new Error('The request was stopped'))
  }
  onCancel(outgoingRequest, stop)
  return {
    onRequestStart: (startedController) => {
      controller = startedController
      if (isCancelled(outgoingRequest)) stop()
    },
    onResponseStart: (_, status, headers) => {
      // Informational responses (1xx) precede the actual one.
      if (status < 200) return
      const arrivingBody = new IncomingBody(stop)
      body = arrivingBody
      const read: IncomingResponse['read'] = (onChunk) => arrivingBody.read(onChunk)
      resolve({ status, header: (name) => headerValueOf(name, headers[name]), read, stop })
    },
    onResponseData: (_, chunk) => body?.receiveChunk(chunk),
    onResponseEnd: () => body?.end(),
    onResponseError: (_, error) => {
      if (body === undefined) reject(error)
      else body.fail(error)
    },
  }
}

function headerValueOf(name: string, value: string | string[] | undefined): string | undefined {
  if (!Array.isArray(value)) return value
  // RFC 9110, section 5.3: the lines of a list header form one list. `WWW-Authenticate` is the only list header that
  // this package reads.
  return name === 'www-authenticate' ? value.join(', ') : value[0]
}
