import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { stoppingError } from '@x/exchange'
import type { AdapterRequest } from '../server/adapter-request.ts'
import { finishCall, stopCall, type RunningCall } from '../server/run-call.ts'
import { maxTimerMs, type Schedule } from '@x/core'
import type { OpenResponse } from './response-writer.ts'

export interface GracefulStopDeps {
  readonly server: Server
  readonly openResponses: readonly OpenResponse[]
  readonly activeCalls: readonly RunningCall[]
  readonly adapterRequests: readonly AdapterRequest[]
  readonly schedule: Schedule
}

const flushTimeoutMs = 1_000

/**
 * Milliseconds for which idle connections stay open after the last answer of a stop. After a hand-off or a rejection,
 * the client sends the call again within 50 ms, later on a busy machine, and a balancer may choose a connection that is
 * still open, where it is answered with 503. Had the connection closed at that moment, the client would not know
 * whether the call had begun.
 */
// limit: linger | ms | idle connections after the last answer of a stop | the connection is closed
const lingerMs = 1_000

/**
 * Stops a server without losing an answer. It stops listening, cancels streaming calls, and waits for all other calls.
 * After `graceMs`, each call that is still running gets an error. Finally every connection is closed, also one without a
 * request.
 *
 * From then on you must reject new calls yourself.
 */
export async function stopGracefully(deps: GracefulStopDeps, graceMs: number): Promise<void> {
  const { server, activeCalls, adapterRequests, schedule } = deps
  const hadCalls = activeCalls.length > 0
  const serverClosePromise = new Promise((resolve) => server.once('close', resolve))
  const responsesDrainPromise = closeWhenDrained(deps)
  const cancelGraceTimer = schedule(() => {
    for (const call of activeCalls.slice()) {
      finishCall(call, stoppingError(), 503)
      stopCall(call, createStoppingError())
    }
    for (const request of adapterRequests.slice()) request.stop('closing')
  }, graceMs)
  const cancelForcedClose = schedule(() => server.closeAllConnections(), Math.min(graceMs + flushTimeoutMs, maxTimerMs))
  // Before the hand-offs, because clients send those calls again at once, and a new connection that waits to be accepted
  // when the socket closes is reset.
  await readWhatHasArrived()
  stopListening(server)
  for (const call of activeCalls.filter(({ isStreaming }) => isStreaming)) stopCall(call, createStoppingError())
  for (const request of adapterRequests.slice()) request.stop('draining')
  await responsesDrainPromise
  if (hadCalls) await setTimeout(lingerMs)
  await readWhatHasArrived()
  cancelGraceTimer()
  cancelForcedClose()
  server.close(() => {})
  // For Node, a connection on which no request has come yet is not idle.
  const cancelLastClose = schedule(() => server.closeAllConnections(), flushTimeoutMs)
  await serverClosePromise
  cancelLastClose()
}

/**
 * Lets the event loop accept the connections and read the requests that the system already has for this process. Timers
 * run before that, on a busy machine late, and what is closed unread is reset: the balancer cannot tell whether the call
 * had begun.
 */
async function readWhatHasArrived(): Promise<void> {
  // The first may end the turn of the loop in which the stop has begun, and the second one follows a whole turn.
  await setImmediate()
  await setImmediate()
}

/**
 * Stops listening. `close` of the `node:http` server would also close connections whose answer is not completely sent,
 * and `close` of the `node:net` server does not. On Bun the one is not made of the other.
 */
function stopListening(server: Server): void {
  if (server instanceof NetServer) NetServer.prototype.close.call(server)
  else (server as Server).close(() => {})
}

function createStoppingError(): DOMException {
  return new DOMException('The server is stopping', 'AbortError')
}

function closeWhenDrained({ openResponses }: GracefulStopDeps): Promise<void> {
  return new Promise((resolve) => {
    const resolveWhenClosed = () => {
      if (openResponses.length === 0) resolve()
    }
    for (const { response } of openResponses) {
      // An answer whose head is sent cannot announce the close any more. Closed right after it, its connection could
      // already have the next request of a balancer.
      if (!response.headersSent) response.shouldKeepAlive = false
      response.once('close', resolveWhenClosed)
    }
    resolveWhenClosed()
  })
}
