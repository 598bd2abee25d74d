import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { errorCodes, McpError } from '@x/schema'
import type { AdapterRequest } from '../server/adapter-request.ts'
import { finishCall, stopCall, type RunningCall } from '../server/run-call.ts'
import type { Schedule } from '../server/handler-settings.ts'
import type { OpenResponse } from './response-writer.ts'

/** The parts of a server that a stop closes. */
export interface GracefulStopDeps {
  readonly server: Server
  readonly openResponses: readonly OpenResponse[]
  readonly activeCalls: readonly RunningCall[]
  readonly adapterRequests: readonly AdapterRequest[]
  readonly schedule: Schedule
}

const flushTimeoutMs = 1_000

/**
 * Milliseconds for which idle connections stay open after the last answer of a stop. A call that was handed off is sent
 * again within 50 ms, and a balancer may choose a connection that it has open: the call is answered 503 there. When the
 * connection closed at that moment, its client would not know whether the call had begun.
 */
const lingerMs = 250

/**
 * Ends a server without losing an answer: stops listening, cancels streams, waits for the other calls, answers for the
 * rest after `graceMs`, and closes every connection.
 *
 * The caller rejects new calls meanwhile.
 */
export async function stopGracefully(deps: GracefulStopDeps, graceMs: number): Promise<void> {
  const { server, activeCalls, adapterRequests, schedule } = deps
  const hadCalls = activeCalls.length > 0
  const serverClosePromise = new Promise((resolve) => server.once('close', resolve))
  // Server.close of node:http would also cut connections whose answer is written and not yet flushed. The one of net
  // only stops to listen.
  NetServer.prototype.close.call(server)
  const responsesDrainPromise = closeWhenDrained(deps)
  for (const call of activeCalls.filter(({ isStreaming }) => isStreaming)) stopCall(call, createStoppingError())
  for (const request of adapterRequests.slice()) request.stop('draining')
  let isGraceOver = false
  const cancelGraceTimer = schedule(() => {
    isGraceOver = true
    finishAllCalls(activeCalls)
    for (const request of adapterRequests.slice()) request.stop('closing')
  }, graceMs)
  const cancelForcedClose = schedule(() => server.closeAllConnections(), graceMs + flushTimeoutMs)
  await responsesDrainPromise
  if (hadCalls && !isGraceOver) await setTimeout(lingerMs)
  cancelGraceTimer()
  server.close(() => {})
  await serverClosePromise
  cancelForcedClose()
}

function finishAllCalls(runningCalls: readonly RunningCall[]): void {
  for (const call of runningCalls.slice()) {
    const reason = createStoppingError()
    finishCall(call, new McpError(errorCodes.internal, reason.message), 503)
    stopCall(call, reason)
  }
}

function createStoppingError(): DOMException {
  return new DOMException('The server is stopping', 'AbortError')
}

// A connection closes with its current answer, and idle connections close when no answer is left.
function closeWhenDrained({ openResponses }: GracefulStopDeps): Promise<void> {
  return new Promise((resolve) => {
    const resolveWhenClosed = () => {
      if (openResponses.length === 0) resolve()
    }
    for (const { response } of openResponses) {
      closeConnectionAfter(response)
      response.once('close', resolveWhenClosed)
    }
    resolveWhenClosed()
  })
}

function closeConnectionAfter(response: ServerResponse): void {
  const { socket } = response
  if (response.headersSent) response.once('finish', () => socket?.end())
  else response.shouldKeepAlive = false
}
