import { Buffer } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import type { MessagePieces } from '@x/schema'
import type { Answer, ResponseWriter } from '../server/response-writer.ts'
import type { NodeRequest } from './read-body.ts'

/** Maximum size of a chunk of one tick, in characters; larger ones are still being built when memory is collected. */
const chunkLength = 16_384

/** A request of node:http while it is answered. */
export interface NodeTarget {
  readonly request: NodeRequest
  readonly response: ServerResponse
  /** The text that was written in this tick. */
  pending: string
}

/** An outlet that writes to a response of node:http. What one tick writes goes out as one chunk: each costs more than an event. */
export const nodeResponseWriter: ResponseWriter<NodeTarget> = {
  send: ({ response }, answer) => sendAnswer(response, answer),
  open({ response }, headers) {
    if (!response.destroyed) response.writeHead(200, [...headers])
  },
  write(target, text) {
    if (target.pending === '') nextTick(flush, target)
    target.pending += text
    if (target.pending.length > chunkLength) flush(target)
  },
  end(target, text) {
    const { response, pending } = target
    target.pending = ''
    if (!response.destroyed) response.end(pending + text)
  },
  queued: ({ response, pending }) => response.writableLength + pending.length,
  drained(target) {
    const { response } = target
    flush(target)
    return response.writableNeedDrain && !response.destroyed ? drainedOf(response) : undefined
  },
  destroy: ({ response }) => void response.destroy(),
  onClose({ request, response }, run) {
    if (response.closed) run()
    else if (response.socket === null) onQueuedClose(request.socket, response, run)
    else response.on('close', run)
  },
}

/** Sends a whole answer; nothing when the response has begun, or its peer has gone. */
export function sendAnswer(response: ServerResponse, { status, headers, body, closes }: Answer): void {
  if (response.headersSent || response.destroyed) return
  if (closes === true) response.shouldKeepAlive = false
  if (body === undefined) {
    response.writeHead(status, status === 204 ? [...headers] : ['Content-Length', '0', ...headers])
    response.end()
    return
  }
  const length = String(lengthOf(body))
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', length, ...headers])
  if (typeof body === 'string') response.end(body)
  else endWith(response, body)
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

function flush(target: NodeTarget): void {
  const { response, pending } = target
  if (pending === '') return
  target.pending = ''
  if (!response.destroyed) response.write(pending)
}

function lengthOf(body: string | MessagePieces): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body.head.length + body.result.byteLength + body.tail.length
}

// In one piece, without a copy of what is large.
function endWith(response: ServerResponse, { head, result, tail }: MessagePieces): void {
  response.cork()
  response.write(head)
  response.write(result)
  response.end(tail)
  response.uncork()
}

function drainedOf(response: ServerResponse): Promise<void> {
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
