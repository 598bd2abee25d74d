import { Buffer } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import { nextTick } from 'node:process'
import type { MessagePieces } from '@x/schema'
import type { Outlet } from '../server/outlet.ts'

/** How long a chunk grows in one tick, in characters; larger ones are still being made when memory is tidied up. */
const chunkLength = 16_384

/** An outlet that writes to a response of node:http. What one tick writes goes out as one chunk: each costs more than an event. */
export function outletOf(response: ServerResponse): Outlet {
  let pending = ''
  const flush = (): void => {
    if (pending === '') return
    const text = pending
    pending = ''
    if (!response.destroyed) response.write(text)
  }
  return {
    send({ status, headers, body, closes }) {
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
    },
    open(headers) {
      if (!response.destroyed) response.writeHead(200, [...headers])
    },
    write(text) {
      if (pending === '') nextTick(flush)
      pending += text
      if (pending.length > chunkLength) flush()
    },
    end(text) {
      const all = pending + text
      pending = ''
      if (!response.destroyed) response.end(all)
    },
    queued: () => response.writableLength + pending.length,
    drained() {
      flush()
      return response.writableNeedDrain && !response.destroyed ? drainedOf(response) : undefined
    },
    destroy: () => void response.destroy(),
    onClose(run) {
      if (response.closed) run()
      else response.on('close', run)
    },
  }
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
    const settle = () => {
      response.off('drain', settle)
      response.off('close', settle)
      resolve()
    }
    response.on('drain', settle)
    response.on('close', settle)
  })
}
