import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import type { MessagePieces } from '@x/schema/internal'
import type { HttpAnswer, ResponseWriter, TakeUnreadBytes } from '../server/http-adapter.ts'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'

/** A request of node:http. A framework may have read its body and set `body`. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown }

/**
 * Maximum length in characters of the text that is collected within one tick. A longer one would often still be in
 * memory when the garbage collector runs.
 */
const maxPendingLength = 16_384

export interface NodeTarget {
  readonly request: NodeRequest
  readonly response: ServerResponse
  /** Written in this tick. */
  pendingText: string
  /** Counts the unread bytes of the answer. Undefined before the caller is known. */
  takeUnreadBytes: TakeUnreadBytes | undefined
}

/**
 * Writes responses of node:http. All output of one tick is written as one chunk, because a chunk costs more than an
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

// Nearly every answer fits into the buffers of the operating system, which leaves no unread bytes to count.
function countUnreadAnswer(target: NodeTarget): void {
  const { response, takeUnreadBytes } = target
  const unreadBytes = response.writableLength
  if (unreadBytes === 0 || takeUnreadBytes === undefined || response.destroyed) return
  const release = takeUnreadBytes(unreadBytes)
  // Closes the connection instead of sending an error, because the call has run. After an error the client would send
  // it again.
  if (release === undefined) response.req.socket.destroy()
  else nodeResponseWriter.onClose(target, release)
}

/** Sends a complete answer. Does nothing if the head was already sent or the connection is closed. */
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

/** A response that waits for earlier ones on its connection gets no event when that closes, so the socket's is used. */
function onQueuedClose(socket: Socket, response: ServerResponse, run: () => void): void {
  const runOnce = (): void => {
    socket.off('close', runOnce)
    response.off('close', runOnce)
    run()
  }
  // Each waiting response of a connection adds a listener, so Node must not warn about their number.
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

// One chunk, without copying a large result.
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

/** Its last byte was not sent yet. */
export interface OpenResponse extends IndexedEntry {
  readonly response: ServerResponse
}

/** Milliseconds for which a client may read nothing of a finished answer. A slow network pauses for seconds only. */
// limit: writeTimeoutMs | ms | a finished answer that its client does not read | the connection is closed
const defaultWriteTimeoutMs = 60_000

/** Requests that one connection may have open at once (HTTP/1.1 pipelining). Common clients send one at a time. */
// limit: count | requests at once on one connection | 503, and the connection is closed
export const maxPipelinedRequests = 16

const maxSweepIntervalMs = 10_000

/** Responses whose last byte was not sent yet. */
export class OpenResponses {
  readonly entries: OpenResponse[] = []
  readonly #endFunctionsBySocket = new WeakMap<Socket, Set<() => void>>()
  readonly #timer: NodeJS.Timeout

  /** `writeTimeoutMs` is how many milliseconds a client may read nothing of a finished answer. */
  constructor(writeTimeoutMs = defaultWriteTimeoutMs) {
    const sweepIntervalMs = Math.min(writeTimeoutMs, maxSweepIntervalMs)
    this.#timer = setInterval(() => sweepResponses(this.entries, writeTimeoutMs), sweepIntervalMs).unref()
  }

  /**
   * Adds a response, which is removed when its last byte is sent or its connection closes. False if the connection has
   * too many open responses.
   */
  add(response: ServerResponse): boolean {
    const entry: OpenResponse = { response, index: -1 }
    // From the request, because a response has no socket while it waits for earlier ones on its connection.
    const { socket } = response.req
    const endFunctions = this.#endFunctionsBySocket.get(socket) ?? watchSocket(socket, this.#endFunctionsBySocket)
    const end = (): void => {
      if (endFunctions.delete(end)) removeFromList(this.entries, entry)
    }
    endFunctions.add(end)
    addToList(this.entries, entry)
    response.on('close', end)
    return endFunctions.size <= maxPipelinedRequests
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Calls a socket's functions when it closes. Responses that still wait for earlier ones get no event then. */
function watchSocket(socket: Socket, endFunctionsBySocket: WeakMap<Socket, Set<() => void>>): Set<() => void> {
  const endFunctions = new Set<() => void>()
  endFunctionsBySocket.set(socket, endFunctions)
  socket.once('close', () => {
    for (const end of endFunctions) end()
  })
  return endFunctions
}

/**
 * Attack: a client that never reads its answer. Node starts the timeout again whenever the system accepts bytes, so a
 * slow reader keeps its connection, and one that reads nothing loses it.
 */
function sweepResponses(entries: readonly OpenResponse[], writeTimeoutMs: number): void {
  for (const { response } of entries) {
    const { socket, writableEnded, writableFinished } = response
    if (writableEnded && !writableFinished && socket?.timeout !== writeTimeoutMs) socket?.setTimeout(writeTimeoutMs)
  }
}
