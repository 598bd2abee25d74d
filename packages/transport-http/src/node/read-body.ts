import { Buffer, isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import {
  incompleteBodyResponse,
  bodyAlreadyReadResponse,
  bodyTooLargeResponse,
  invalidTextResponse,
} from '../server/reply.ts'
import type { HttpErrorResponse } from '../server/http-adapter.ts'
import { runInNextBatch } from '../server/run-call.ts'

/** A request of node:http, with the body that a framework may have read and parsed before. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown }

/** Reads a request's body as UTF-8 and stops at the bound, even where `Content-Length` is smaller. */
export function readNodeBody(request: NodeRequest, maxBytes: number): Promise<string | HttpErrorResponse> {
  if (request.readableDidRead || request.readableEnded) return Promise.resolve(readParsedBody(request.body, maxBytes))
  // Bytes that are not read here are discarded by node:http, so that the peer gets to its answer.
  if (Number(request.headers['content-length']) > maxBytes) return Promise.resolve(bodyTooLargeResponse(maxBytes))
  return new Promise((resolve) => collectBody(request, maxBytes, resolve))
}

// The request keeps its listeners for as long as its answer lasts, which may be days: what they held is let go at the
// end.
function collectBody(request: NodeRequest, maxBytes: number, resolve: FinishBody): void {
  let finish: FinishBody | undefined = resolve
  let bytes: Buffer | undefined
  let receivedBytes = 0
  request.on('data', (chunk: Buffer) => {
    const chunkStart = receivedBytes
    receivedBytes += chunk.length
    if (receivedBytes <= maxBytes) bytes = chunkStart === 0 ? chunk : appendChunk(bytes, chunk, chunkStart)
    else if (chunkStart <= maxBytes) finish?.(bodyTooLargeResponse(maxBytes))
    // A peer that continues to send after its answer loses the connection.
    else if (receivedBytes > 2 * maxBytes + allowedExcessBytes) request.destroy()
  })
  request.on('end', () =>
    runInNextBatch(() => {
      finish?.(
        receivedBytes > maxBytes ? bodyTooLargeResponse(maxBytes) : decodeUtf8(bytes?.subarray(0, receivedBytes)),
      )
      finish = undefined
      bytes = undefined
    }),
  )
  request.on('error', () => finish?.(incompleteBodyResponse))
}

type FinishBody = (body: string | HttpErrorResponse) => void

const allowedExcessBytes = 1_048_576
const minBufferBytes = 65_536

// A list of chunks would cost far more than the body when it comes in tiny ones.
function appendChunk(bytes: Buffer | undefined, chunk: Buffer, chunkStart: number): Buffer {
  const neededBytes = chunkStart + chunk.length
  if (bytes !== undefined && bytes.length >= neededBytes) {
    chunk.copy(bytes, chunkStart)
    return bytes
  }
  const largerBuffer = Buffer.allocUnsafe(Math.max(minBufferBytes, 2 * neededBytes))
  bytes?.copy(largerBuffer, 0, 0, chunkStart)
  chunk.copy(largerBuffer, chunkStart)
  return largerBuffer
}

function decodeUtf8(bytes: Buffer | undefined): string | HttpErrorResponse {
  if (bytes === undefined) return ''
  return isUtf8(bytes) ? bytes.toString('utf8') : invalidTextResponse
}

// A parsed body is serialized again, so that one parser applies the same bounds to every body.
function readParsedBody(body: unknown, maxBytes: number): string | HttpErrorResponse {
  if (body === undefined) return bodyAlreadyReadResponse
  const text =
    body instanceof Uint8Array
      ? decodeUtf8(Buffer.from(body))
      : typeof body === 'string'
        ? body
        : serializeParsedBody(body)
  if (typeof text === 'string' && Buffer.byteLength(text) > maxBytes) return bodyTooLargeResponse(maxBytes)
  return text
}

function serializeParsedBody(body: unknown): string | HttpErrorResponse {
  try {
    return JSON.stringify(body) ?? ''
  } catch {
    // A value that JSON.parse returned can fail here by its depth alone.
    return { ...invalidTextResponse, message: 'The body is nested too deeply' }
  }
}
