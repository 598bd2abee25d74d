import { createServer, type IncomingMessage, type Server as NodeServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorCodes, type Server } from '@x/schema'
import { createErrorAnswer } from '../server/reply.ts'
import { checkHandlerOptions, type HandlerInternals, setPlatformTimer } from '../server/handler-settings.ts'
import { checkBindAddress, formatUrlHost, loopbackHostsOf } from './bind-address.ts'
import { watchDescriptors } from './descriptor-watch.ts'
import { answerDocument } from './documents.ts'
import { createHealthCheck } from './health.ts'
import { createHandler, createNodeContext, type NodeHandlerOptions } from './node-handler.ts'
import { createOpenResponses, sendAnswer } from './response-writer.ts'
import { createStopFunction, type StopOptions, type StopState } from './stop.ts'

/** The options of {@link serveHttp}. */
export interface ServeHttpOptions extends NodeHandlerOptions {
  /** The port. 0, the default, picks a free one. */
  readonly port?: number | undefined
  /** The address to bind, `127.0.0.1` by default. One that other machines reach needs `allowedHosts`. */
  readonly host?: string | undefined
  /** The path of the endpoint, `/mcp` by default. Every other path answers 404. */
  readonly path?: string | undefined
  /**
   * Receives every request first, except those for `/healthz` and `/readyz`. Returns true for a request that it answers
   * itself, such as one for a page.
   */
  readonly onRequest?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /**
   * Stops the server at SIGTERM and SIGINT, with the options of the stop or `true`. The process then exits by itself
   * unless other resources keep it alive. A second signal ends it at once. Off by default.
   */
  readonly stopOnSignals?: boolean | StopOptions | undefined
}

const defaults = { port: 0, host: '127.0.0.1', path: '/mcp', stopOnSignals: false } satisfies ServeHttpOptions

/** The names of the options beside those of a handler. */
const knownServeOptions = {
  port: true,
  host: true,
  path: true,
  onRequest: true,
  stopOnSignals: true,
} as const satisfies Record<Exclude<keyof ServeHttpOptions, keyof NodeHandlerOptions>, true>

/** A server that listens. */
export interface HttpServer {
  /** The endpoint, such as `http://127.0.0.1:3000/mcp`. */
  readonly url: string
  readonly port: number
  /**
   * Stops the server. `/readyz` is 503 at once, running calls are handed off to other instances where possible, and new
   * ones get 503 after `noticeMs`. Running calls have `graceMs` to finish. Then the server itself closes, with the last
   * of its hosts. Resolves when every connection is closed. A second call returns the same promise.
   */
  close(options?: StopOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

// Node's keep-alive of 5 s is shorter than that of most balancers, which then send a call into a closing connection.
const serverOptions = {
  keepAliveTimeout: 65_000,
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
}

/**
 * Serves a server on a port of its own, and closes it when it stops, unless another host serves it still.
 *
 * The head of a request has 15 seconds to arrive, and its body 60. An idle connection stays open for 65 seconds.
 *
 * @example
 * await using http = await serveHttp(server, { port: 3000 })
 *
 * @throws TypeError or RangeError for options that make no sense, such as a public address without `allowedHosts`, or
 * for a server that is for this machine alone.
 * @throws Error when the address cannot be bound. Its `cause` is the system's error.
 */
export async function serveHttp(mcpServer: Server, options: ServeHttpOptions = {}): Promise<HttpServer> {
  return startHttpServer(mcpServer, options)
}

/** Starts the server of {@link serveHttp}, with other internal values for tests. */
export async function startHttpServer(
  mcpServer: Server,
  options: ServeHttpOptions,
  internals: HandlerInternals = {},
): Promise<HttpServer> {
  checkHandlerOptions(options, 'serveHttp', knownServeOptions)
  const { port = defaults.port, host = defaults.host, path = defaults.path } = options
  checkBindAddress(host, mcpServer, options)
  const allowedHosts = options.allowedHosts ?? loopbackHostsOf(host)
  const context = createNodeContext(mcpServer, { ...options, allowedHosts }, internals)
  const openResponses = createOpenResponses()
  const stopState: StopState = { phase: 'open' }

  const handleRequest = createHandler(context)
  const answerHealthCheck = createHealthCheck({
    isOpen: () => stopState.phase === 'open' && mcpServer.load.ready,
    canReachDependencies: async () => {
      await context.settings.authReady?.()
      return mcpServer.ready()
    },
  })
  const server = createServer(serverOptions, (request, response) => {
    const hasPipelineRoom = openResponses.add(response)
    if (request.httpVersionMajor === 0) return rejectRequestLine(response)
    // `Connection: close` makes the client send its next call to another instance, before calls are rejected here.
    if (stopState.phase !== 'open') response.shouldKeepAlive = false
    if (answerHealthCheck(request, response) || options.onRequest?.(request, response)) return
    if (!hasPipelineRoom) rejectPipelinedRequest(response)
    else if (stopState.phase === 'refusing') rejectWhileStopping(response)
    else if (hasPath(path, request.url)) handleRequest(request, response)
    else answerDocument({ request, response, path }, context)
  })
  const boundPort = await listenOnAddress(server, host, port)
  const { schedule = setPlatformTimer } = internals
  const { activeCalls, adapterRequests } = context
  server.once('close', openResponses.stop)
  watchDescriptors(server)
  const close = createStopFunction({
    server,
    openResponses: openResponses.entries,
    activeCalls,
    adapterRequests,
    schedule,
    mcpServer,
    stopState,
    stopOnSignals: options.stopOnSignals ?? defaults.stopOnSignals,
  })
  return {
    url: `http://${formatUrlHost(host)}:${boundPort}${path}`,
    port: boundPort,
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

function hasPath(path: string, url: string | undefined): boolean {
  return url === path || url?.split('?', 1)[0] === path
}

// RFC 9112, 3: a request line has a version. Without one the parser assumes HTTP/0.9, whose responses have no head.
function rejectRequestLine(response: ServerResponse): void {
  const message = 'The request line has no HTTP version: end it with HTTP/1.1'
  response.shouldKeepAlive = false
  sendAnswer(response, createErrorAnswer({ status: 400, message }, []))
}

function rejectPipelinedRequest(response: ServerResponse): void {
  const message = 'Too many requests at once on one connection: wait for their answers, or open another connection'
  response.shouldKeepAlive = false
  sendAnswer(response, createErrorAnswer({ status: 503, code: errorCodes.internal, message }, []))
}

function rejectWhileStopping(response: ServerResponse): void {
  const rejection = { status: 503, code: errorCodes.internal, message: 'The server is stopping: try another instance' }
  // Another instance may take the call at once, and this instance takes none any more.
  const data = { reason: 'stopping', retryAfterMs: 0 }
  sendAnswer(response, createErrorAnswer({ ...rejection, data, headers: { 'Retry-After': '1' } }, []))
}

function listenOnAddress(server: NodeServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(createListenError(error, host, port)))
    server.listen(port, host, () => resolve(portOf(server.address())))
  })
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('The server listens on no port')
}

function createListenError(error: Error, host: string, port: number): Error {
  const code = 'code' in error ? error.code : undefined
  const hostAndPort = `${formatUrlHost(host)}:${port}`
  if (code === 'EADDRINUSE') {
    return new Error(`${hostAndPort} is in use: stop what listens there, or give another port (0 picks a free one)`, {
      cause: error,
    })
  }
  if (code === 'EACCES')
    return new Error(`${hostAndPort} needs rights that this process lacks: give a port from 1024 up`, { cause: error })
  return new Error(`${hostAndPort} cannot be bound: ${error.message}`, { cause: error })
}
