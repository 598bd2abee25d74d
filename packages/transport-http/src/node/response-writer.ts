import { Buffer } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import type { MessagePieces } from '@x/schema/internal'
import type { HttpAnswer, ResponseWriter, TakeUnreadBytes } from '../server/http-adapter.ts'
import type { NodeRequest } from './read-body.ts'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'

/** Maximum size of a chunk of one tick, in characters. Larger ones are still being built when memory is collected. */
const maxPendingLength = 16_384

/** A request of node:http while it is answered. */
export interface NodeTarget {
  readonly request: NodeRequest
  readonly response: ServerResponse
  /** The text that was written in this tick. */
  pendingText: string
  /** Counts the unread bytes of the answer. Undefined until the caller is known. */
  takeUnreadBytes: TakeUnreadBytes | undefined
}

/**
 * The writer to a response of node:http. The output of one tick leaves as one chunk, because a chunk costs more than an
 * event.
 */
export const nodeResponseWriter: ResponseWriter<NodeTarget> = {
  send(target, answer) {
    sendAnswer(target.response, answer)
    countUnreadAnswer(target)
  },
  open({ response }, headers) {
    if (!response.destroyed) response.writeHead(200, [...headers])
  },
  write(target, text) {
    if (target.pendingText === '') nextTick(flushPendingText, target)
    target.pendingText += text
    if (target.pendingText.length > maxPendingLength) flushPendingText(target)
  },
  end(target, text) {
    const { response, pendingText } = target
    target.pendingText = ''
    if (response.destroyed) return
    response.end(pendingText + text)
    countUnreadAnswer(target)
  },
  countQueuedBytes: ({ response, pendingText }) => response.writableLength + pendingText.length,
  waitForDrain(target) {
    const { response } = target
    flushPendingText(target)
    return response.writableNeedDrain && !response.destroyed ? waitForDrain(response) : undefined
  },
  destroy: ({ response }) => void response.destroy(),
  onClose({ request, response }, run) {
    if (response.closed) run()
    else if (response.socket === null) onQueuedClose(request.socket, response, run)
    else response.on('close', run)
  },
}

// Nearly every answer fits into the buffers of the system, and then costs nothing here.
function countUnreadAnswer(target: NodeTarget): void {
  const { response, takeUnreadBytes } = target
  const unreadBytes = response.writableLength
  if (unreadBytes === 0 || takeUnreadBytes === undefined || response.destroyed) return
  const release = takeUnreadBytes(unreadBytes)
  // The call has run, so a rejection in place of its answer would have it sent again.
  if (release === undefined) response.req.socket.destroy()
  else nodeResponseWriter.onClose(target, release)
}

/** Sends a whole answer, or nothing when the head was sent or the connection is closed. */
export function sendAnswer(response: ServerResponse, { status, headers, body, hasConnectionClose }: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return
  if (hasConnectionClose === true) response.shouldKeepAlive = false
  if (body === undefined) {
    response.writeHead(status, status === 204 ? [...headers] : ['Content-Length', '0', ...headers])
    response.end()
    return
  }
  const contentLength = String(byteLengthOf(body))
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', contentLength, ...headers])
  if (typeof body === 'string') response.end(body)
  else endWithPieces(response, body)
}

/** A response that waits for others on its connection gets no event when the connection closes. */
function onQueuedClose(socket: Socket, response: ServerResponse, run: () => void): void {
  const runOnce = (): void => {
    socket.off('close', runOnce)
    response.off('close', runOnce)
    run()
  }
  // As many listeners as requests that one connection may have at once.
  socket.setMaxListeners(0)
  socket.once('close', runOnce)
  response.once('close', runOnce)
}

function flushPendingText(target: NodeTarget): void {
  const { response, pendingText } = target
  if (pendingText === '') return
  target.pendingText = ''
  if (!response.destroyed) response.write(pendingText)
}

function byteLengthOf(body: string | MessagePieces): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body.head.length + body.result.byteLength + body.tail.length
}

// The parts leave as one chunk, without a copy of a large result.
function endWithPieces(response: ServerResponse, { head, result, tail }: MessagePieces): void {
  response.cork()
  response.write(head)
  response.write(result)
  response.end(tail)
  response.uncork()
}

function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      response.off('drain', finish)
      response.off('close', finish)
      resolve()
    }
    response.on('drain', finish)
    response.on('close', finish)
  })
}

/** A response whose last byte is not out yet. */
export interface OpenResponse extends IndexedEntry {
  readonly response: ServerResponse
}

/** The responses of one server that are open, and the bounds that they keep. */
interface OpenResponses {
  readonly entries: OpenResponse[]
  /**
   * Adds a response until its last byte is sent or its connection closes. Returns false when its connection has too
   * many already.
   */
  add(response: ServerResponse): boolean
  /** Ends the watch over slow readers. */
  stop(): void
}

/** Milliseconds for which the reader of a finished answer may read nothing. A slow network pauses for seconds. */
const defaultWriteTimeoutMs = 60_000

/** Requests that one connection may have running at once (HTTP/1.1 pipelining). Common clients send one at a time. */
export const maxPipelinedRequests = 16

const maxSweepIntervalMs = 10_000

/**
 * Creates the list of a server's open responses. `writeTimeoutMs` are the milliseconds for which the reader of a
 * finished answer may read nothing.
 */
export function createOpenResponses(writeTimeoutMs = defaultWriteTimeoutMs): OpenResponses {
  const entries: OpenResponse[] = []
  const endFunctionsBySocket = new WeakMap<Socket, Set<() => void>>()
  const sweepIntervalMs = Math.min(writeTimeoutMs, maxSweepIntervalMs)
  const timer = setInterval(() => sweepResponses(entries, writeTimeoutMs), sweepIntervalMs).unref()
  return {
    entries,
    add: (response) => {
      const entry: OpenResponse = { response, index: -1 }
      // A response that waits for those before it on its connection has no socket of its own yet.
      const { socket } = response.req
      const endFunctions = endFunctionsBySocket.get(socket) ?? watchSocket(socket, endFunctionsBySocket)
      const end = (): void => {
        if (endFunctions.delete(end)) removeFromList(entries, entry)
      }
      endFunctions.add(end)
      addToList(entries, entry)
      response.on('close', end)
      return endFunctions.size <= maxPipelinedRequests
    },
    stop: () => clearInterval(timer),
  }
}

/** A response that never had its turn on a connection that closes gets no event of its own. */
function watchSocket(socket: Socket, endFunctionsBySocket: WeakMap<Socket, Set<() => void>>): Set<() => void> {
  const endFunctions = new Set<() => void>()
  endFunctionsBySocket.set(socket, endFunctions)
  socket.once('close', () => {
    for (const end of endFunctions) end()
  })
  return endFunctions
}

/**
 * Sets the time limit of answers that are finished and not read. Node measures it by the bytes that the system takes,
 * so that a slow reader is not cut off, and one that takes nothing loses the connection.
 */
function sweepResponses(entries: readonly OpenResponse[], writeTimeoutMs: number): void {
  for (const { response } of entries) {
    const { socket, writableEnded, writableFinished } = response
    if (writableEnded && !writableFinished && socket?.timeout !== writeTimeoutMs) socket?.setTimeout(writeTimeoutMs)
  }
}
