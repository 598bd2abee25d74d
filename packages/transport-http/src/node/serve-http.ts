import { createServer, type IncomingMessage, type Server as NodeServer, type ServerResponse } from 'node:http'
import type { Server } from '@x/exchange'
import type { HandlerInternals } from '../server/handler-settings.ts'
import { checkBindAddress, formatUrlHost, loopbackHostsOf } from './bind-address.ts'
import { watchDescriptors } from './descriptor-watch.ts'
import { createHealthCheck } from './health.ts'
import {
  createHandler,
  createNodeContext,
  createNodeRequestView,
  type NodeContext,
  scheduleUnref,
} from './node-handler.ts'
import { rejectOtherPath, rejectPipelinedRequest, rejectRequestLine, rejectWhileStopping } from './rejections.ts'
import { OpenResponses, sendAnswer } from './response-writer.ts'
import { resolveServeOptions, type ServeHttpOptions } from './serve-options.ts'
import { createStopFunction, type StopOptions, type StopPhase } from './stop.ts'
import { createErrorAnswer, internalErrorResponse } from '../server/reply.ts'

/** A server that listens on a port. */
export interface HttpServer {
  /** URL of the endpoint, such as `http://127.0.0.1:3000/mcp`. */
  readonly url: string
  readonly port: number
  /**
   * Stops the server. `/readyz` returns 503 at once. After `noticeMs`, new calls are rejected with 503, and running
   * calls are handed off to other instances if possible; all others have `graceMs` to finish. If no other host serves
   * the server, it is closed as well. Resolves when every connection is closed. A second call returns the same promise.
   */
  close(options?: StopOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

// Node's default of 5 seconds is shorter than the timeout of most balancers, which would then send a call over a
// connection that is closing.
const serverOptions = {
  keepAliveTimeout: 65_000,
  // limit: ms | the arrival of a head | the connection is closed
  headersTimeout: 15_000,
  // limit: ms | the arrival of a body | the connection is closed
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
}

/**
 * Serves a server on its own port. Stopping also closes the server, unless another host still serves it.
 *
 * A request's head must arrive within 15 seconds, and its body within 60. An idle connection stays open for 65 seconds.
 *
 * @example
 * await using http = await serveHttp(server, { port: 3000 })
 *
 * @throws TypeError or RangeError for invalid options, such as a public address without `allowedHosts`, or a public
 * address for a server that is only for this machine.
 * @throws Error if the address cannot be bound. Its `cause` is the error of the system.
 */
export async function serveHttp(mcpServer: Server, options: ServeHttpOptions = {}): Promise<HttpServer> {
  return startHttpServer(mcpServer, options)
}

/** Tests pass other internal values. */
export async function startHttpServer(
  mcpServer: Server,
  options: ServeHttpOptions,
  internals: HandlerInternals = {},
): Promise<HttpServer> {
  const { port, host, path, onRequest, stopOnSignals, ...handlerOptions } = resolveServeOptions(options)
  checkBindAddress(host, mcpServer, handlerOptions)
  const allowedHosts = handlerOptions.allowedHosts ?? loopbackHostsOf(host)
  const context = createNodeContext(mcpServer, { ...handlerOptions, allowedHosts }, internals)
  const openResponses = new OpenResponses()
  let stopPhase: StopPhase = 'open'

  const handleRequest = createHandler(context)
  const isOpen = (): boolean => stopPhase === 'open' && mcpServer.load.ready
  const answerHealthCheck = createHealthCheck(isOpen, async () => {
    await context.settings.authReady?.()
    return mcpServer.ready()
  })
  const serveUnclaimed = (request: IncomingMessage, response: ServerResponse, hasPipelineRoom: boolean): void => {
    if (!hasPipelineRoom) rejectPipelinedRequest(response)
    else if (stopPhase === 'refusing') rejectWhileStopping(response)
    else if (hasPath(path, request.url)) handleRequest(request, response)
    else rejectOtherPath(request, response, path, context)
  }
  const server = createServer(serverOptions, (request, response) => {
    const hasPipelineRoom = openResponses.add(response)
    if (request.httpVersionMajor === 0) return rejectRequestLine(response)
    // While the server stops, `Connection: close` makes clients open a new connection, which may reach another
    // instance.
    if (stopPhase !== 'open') response.shouldKeepAlive = false
    if (!hasPath(path, request.url) && answerHealthCheck(request, response)) return
    if (onRequest === undefined) return serveUnclaimed(request, response, hasPipelineRoom)
    const serve = (): void => serveUnclaimed(request, response, hasPipelineRoom)
    void runOnRequest(onRequest, request, response, { serve, settings: context.settings })
  })
  const boundPort = await listenOnAddress(server, host, port)
  // While a stop waits, connections keep the process running. A `close` that never ends must not.
  const { schedule = scheduleUnref } = internals
  const { activeCalls, adapterRequests } = context
  server.once('close', () => openResponses.stop())
  // A misspelt issuer is in the log from the start, and not only once somebody asks whether the server is ready.
  context.settings.authReady?.().catch(() => {})
  watchDescriptors(server, mcpServer.log)
  const close = createStopFunction({
    server,
    openResponses: openResponses.entries,
    activeCalls,
    adapterRequests,
    schedule,
    mcpServer,
    onPhase: (phase) => (stopPhase = phase),
    stopOnSignals,
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

function listenOnAddress(server: NodeServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(withoutFrames(createListenError(error, host, port))))
    server.listen(port, host, () => resolve(portOf(server.address())))
  })
}

function portOf(address: ReturnType<NodeServer['address']>): number {
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('The server listens on no port')
}

/** The frames are those of Node, and would hide the advice from a reader of the terminal. */
function withoutFrames(error: Error): Error {
  for (const each of [error, error.cause]) if (each instanceof Error) each.stack = `${each.name}: ${each.message}`
  return error
}

function createListenError(error: Error, host: string, port: number): Error {
  const code = 'code' in error ? error.code : undefined
  const hostAndPort = `${formatUrlHost(host)}:${port}`
  if (code === 'EADDRINUSE') {
    const example = `with PORT=${port + 1} before the command, if the program reads PORT`
    const advice = `stop what listens there, or give another port (0 picks a free one), such as ${example}`
    return new Error(`${hostAndPort} is in use: ${advice}`, { cause: error })
  }
  if (code === 'EACCES')
    return new Error(`${hostAndPort} needs rights that this process lacks: give a port from 1024 up`, { cause: error })
  return new Error(`${hostAndPort} cannot be bound: ${error.message}`, { cause: error })
}

/** Serves a request unless the author's hook answers it. A hook that throws or rejects fails this request alone. */
async function runOnRequest(
  onRequest: NonNullable<ServeHttpOptions['onRequest']>,
  request: IncomingMessage,
  response: ServerResponse,
  { serve, settings }: { readonly serve: () => void; readonly settings: NodeContext['settings'] },
): Promise<void> {
  try {
    if (!(await onRequest(request, response))) serve()
  } catch (error) {
    settings.onError(error, createNodeRequestView(request))
    // A hook's half answer cannot be taken back.
    if (response.headersSent && !response.writableEnded) response.destroy()
    else sendAnswer(response, createErrorAnswer(internalErrorResponse, []))
  }
}
