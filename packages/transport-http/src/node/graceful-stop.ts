import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { errorCodes, McpError } from '@x/schema'
import type { AdapterRequest } from '../server/adapter-request.ts'
import { finishCall, stopCall, type RunningCall } from '../server/run-call.ts'
import type { Schedule } from '../server/settings.ts'
import type { OpenResponse } from './response-writer.ts'

/** The parts of a server that a stop closes. */
export interface Stoppable {
  readonly server: Server
  readonly open: readonly OpenResponse[]
  readonly running: readonly RunningCall[]
  readonly adapterRequests: readonly AdapterRequest[]
  readonly schedule: Schedule
}

const flushMs = 1_000

/**
 * Ends a server without losing an answer: takes no connection any more, asks streams to end, waits for the other calls,
 * after `graceMs` answers for those that are left, and closes every connection. Resolves when all of that is done.
 *
 * The caller refuses new calls meanwhile.
 */
export async function stopGracefully(parts: Stoppable, graceMs: number): Promise<void> {
  const { server, running, adapterRequests, schedule } = parts
  const closed = new Promise((resolve) => server.once('close', resolve))
  // Server.close of node:http would also cut connections whose answer is written and not yet flushed; net's only
  // stops to listen.
  NetServer.prototype.close.call(server)
  const drained = closeWhenDrained(parts)
  for (const call of running.filter(({ streams }) => streams)) stopCall(call, stopping())
  for (const request of adapterRequests.slice()) request.stop('draining')
  const cancelGrace = schedule(() => {
    finishAll(running)
    for (const request of adapterRequests.slice()) request.stop('closing')
  }, graceMs)
  const cancelCut = schedule(() => server.closeAllConnections(), graceMs + flushMs)
  await drained
  cancelGrace()
  server.close(() => {})
  await closed
  cancelCut()
}

function finishAll(running: readonly RunningCall[]): void {
  for (const call of running.slice()) {
    const reason = stopping()
    finishCall(call, new McpError(errorCodes.internal, reason.message), 503)
    stopCall(call, reason)
  }
}

function stopping(): DOMException {
  return new DOMException('The server is stopping', 'AbortError')
}

// A connection is closed with the answer that it is giving; the idle ones go when no answer is under way.
function closeWhenDrained({ open }: Stoppable): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (open.length === 0) resolve()
    }
    for (const { response } of open) {
      closeAfter(response)
      response.once('close', check)
    }
    check()
  })
}

function closeAfter(response: ServerResponse): void {
  const { socket } = response
  if (response.headersSent) response.once('finish', () => socket?.end())
  else response.shouldKeepAlive = false
}
