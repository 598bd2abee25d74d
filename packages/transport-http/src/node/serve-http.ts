import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorCodes } from '@x/schema'
import { isLoopback, loopbackHosts, parseHost } from '../server/hosts.ts'
import { refuse } from '../server/refusal.ts'
import type { HttpRefusal } from '../server/refusal.ts'
import { platformSchedule } from '../server/settings.ts'
import { type HealthOptions, healthCheck } from './health.ts'
import { contextOf, handlerIn } from './node-handler.ts'
import type { NodeHandlerOptions } from './node-handler.ts'
import { keepOpen, type OpenResponse } from './open-responses.ts'
import { sendAnswer } from './outlet.ts'
import type { ServedExchange } from './served-exchange.ts'
import { type StopOptions, type Stopping, stopOnce } from './stop.ts'

/** Where {@link serveHttp} listens, and how it behaves. */
export interface ServeHttpOptions extends NodeHandlerOptions {
  /** The port; 0, the default, picks a free one. */
  readonly port?: number | undefined
  /** The address to bind, `127.0.0.1` by default. One that other machines reach needs `allowedHosts`. */
  readonly host?: string | undefined
  /** The path of the endpoint, `/mcp` by default; every other answers 404. */
  readonly path?: string | undefined
  /** Where balancers look whether the server is well: `/healthz` and `/readyz` by default, `false` for nowhere. */
  readonly health?: false | HealthOptions | undefined
  /**
   * Stops the server at SIGTERM and SIGINT: `true`, or how. The process then ends by itself when nothing else keeps it; a
   * second signal ends it at once. Off by default.
   */
  readonly stopOnSignals?: boolean | StopOptions | undefined
}

/** A server that listens. */
export interface HttpServer {
  /** The endpoint, such as `http://127.0.0.1:3000/mcp`. */
  readonly url: string
  readonly port: number
  /**
   * Stops: the server is not ready any more, running calls move on to other instances where they can, new ones get 503 after
   * `noticeMs`, and those that run have `graceMs` to finish. Resolves when every connection is closed; calling it again gives the same promise.
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
 * Serves an exchange on a port of its own.
 *
 * A request's head has 15 seconds to arrive and its body 60; an idle connection is kept for 65.
 *
 * @example
 * await using http = await serveHttp(server, { port: 3000 })
 *
 * @throws TypeError or RangeError for options that make no sense, such as a public address without `allowedHosts`, or for an
 * exchange that is for this machine alone.
 * @throws Error when the address cannot be bound; its `cause` is the system's error.
 */
export async function serveHttp(exchange: ServedExchange, options: ServeHttpOptions = {}): Promise<HttpServer> {
  const { port = 0, host = '127.0.0.1', path = '/mcp' } = options
  if (!isThisMachine(host)) refuseLocalOnly(exchange, host)
  const context = contextOf(exchange, { ...options, allowedHosts: options.allowedHosts ?? ownHosts(host) })
  const open: OpenResponse[] = []
  const stopping: Stopping = { phase: 'open' }

  const handle = handlerIn(context)
  const isHealthCheck = healthCheck(
    options.health ?? {},
    () => stopping.phase === 'open' && exchange.load?.ready !== false,
  )
  const server = createServer(serverOptions, (request, response) => {
    keepOpen(open, response)
    // A client that is told so early has its next call at another instance, and not refused here.
    if (stopping.phase !== 'open') response.shouldKeepAlive = false
    if (isHealthCheck(request, response)) return
    if (stopping.phase === 'refusing') refuseRest(response)
    else if (isAt(path, request.url)) handle(request, response)
    else sendAnswer(response, refuse(notHere(path), []))
  })
  const bound = await listen(server, host, port)
  const { schedule = platformSchedule, stopOnSignals: onSignals = false } = options
  const close = stopOnce({ server, open, running: context.running, schedule, exchange, stopping, onSignals })
  return { url: `http://${inUrl(host)}:${bound}${path}`, port: bound, close, [Symbol.asyncDispose]: () => close() }
}

function isAt(path: string, url: string | undefined): boolean {
  return url === path || url?.split('?', 1)[0] === path
}

function notHere(path: string): HttpRefusal {
  return { status: 404, message: `There is nothing here: the endpoint is ${path}` }
}

function refuseRest(response: ServerResponse): void {
  const refusal = { status: 503, code: errorCodes.internal, message: 'The server is stopping: try another instance' }
  // Another instance may take the call at once, and this one never again.
  const data = { reason: 'stopping', retryAfterMs: 0 }
  sendAnswer(response, refuse({ ...refusal, data, headers: { 'Retry-After': '1' } }, []))
}

function isThisMachine(host: string): boolean {
  const name = parseHost(inUrl(host))?.name
  return name !== undefined && isLoopback(name)
}

function refuseLocalOnly({ localOnly }: ServedExchange, host: string): void {
  if (localOnly !== undefined)
    throw new TypeError(`host "${host}" can be reached from other machines, but ${localOnly}`)
}

// What reaches the loopback address was meant for this machine; on any other, only the operator knows its names.
function ownHosts(host: string): readonly string[] {
  const name = parseHost(inUrl(host))?.name
  if (name !== undefined && isLoopback(name)) return [...loopbackHosts, name]
  throw new TypeError(
    `host "${host}" can be reached from other machines: give allowedHosts, the names by which they call it, or "*" behind a proxy that checks them`,
  )
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(unbound(error, host, port)))
    server.listen(port, host, () => resolve(portOf(server.address())))
  })
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('The server listens on no port')
}

function unbound(error: Error, host: string, port: number): Error {
  const code = 'code' in error ? error.code : undefined
  const where = `${inUrl(host)}:${port}`
  if (code === 'EADDRINUSE') {
    return new Error(`${where} is in use: stop what listens there, or give another port (0 picks a free one)`, {
      cause: error,
    })
  }
  if (code === 'EACCES')
    return new Error(`${where} needs rights that this process lacks: give a port from 1024 up`, { cause: error })
  return new Error(`${where} cannot be bound: ${error.message}`, { cause: error })
}
