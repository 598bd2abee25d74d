import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'

/** A response whose last byte is not out yet. */
export interface OpenResponse extends IndexedEntry {
  readonly response: ServerResponse
}

/** The responses of one server that are open, and the bounds that they keep. */
export interface OpenResponses {
  readonly all: OpenResponse[]
  /** Adds a response until its last byte is out, or its connection is gone. Returns false when its connection has too many already. */
  add(response: ServerResponse): boolean
  /** Ends the watch over slow readers. */
  stop(): void
}

/** The bounds of open responses. */
export interface ResponseBounds {
  /** Milliseconds that the reader of a finished answer may take none of it; 0 for ever. */
  readonly writeTimeoutMs: number
  /** Requests of one connection that may be under way at once. */
  readonly maxPipelined: number
}

const longestSweepMs = 10_000

/** Creates the list of a server's open responses. */
export function createOpenResponses({ writeTimeoutMs, maxPipelined }: ResponseBounds): OpenResponses {
  const all: OpenResponse[] = []
  const perSocket = new WeakMap<Socket, Set<() => void>>()
  const sweepMs = Math.min(writeTimeoutMs, longestSweepMs)
  const timer =
    writeTimeoutMs === 0 ? undefined : setInterval(() => sweepResponses(all, writeTimeoutMs), sweepMs).unref()
  return {
    all,
    add: (response) => {
      const entry: OpenResponse = { response, index: -1 }
      // A response that waits for those before it on its connection has no socket of its own yet.
      const { socket } = response.req
      const open = perSocket.get(socket) ?? watchSocket(socket, perSocket)
      const end = (): void => {
        if (open.delete(end)) removeFromList(all, entry)
      }
      open.add(end)
      addToList(all, entry)
      response.on('close', end)
      return open.size <= maxPipelined
    },
    stop: () => clearInterval(timer),
  }
}

/** A response that never had its turn on a connection that closes gets no event of its own. */
function watchSocket(socket: Socket, perSocket: WeakMap<Socket, Set<() => void>>): Set<() => void> {
  const open = new Set<() => void>()
  perSocket.set(socket, open)
  socket.once('close', () => {
    for (const end of open) end()
  })
  return open
}

/**
 * Sets the time limit of answers that are finished and not read. Node measures it by the bytes that the system takes, so that a slow reader
 * is not cut off, and one that takes nothing loses the connection.
 */
function sweepResponses(all: readonly OpenResponse[], writeTimeoutMs: number): void {
  for (const { response } of all) {
    const { socket, writableEnded, writableFinished } = response
    if (writableEnded && !writableFinished && socket?.timeout !== writeTimeoutMs) socket?.setTimeout(writeTimeoutMs)
  }
}
