import { Buffer, isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import {
  incompleteBodyResponse,
  bodyAlreadyReadResponse,
  bodyTooLargeResponse,
  invalidTextResponse,
} from '../server/reply.ts'
import type { BodyBounds, HttpErrorResponse } from '../server/http-adapter.ts'
import { runInNextBatch } from '../server/run-call.ts'

/** A request of node:http. A framework may have read its body and set `body`. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown }

/** Reads the body of a request as UTF-8. Stops at the limit, even if `Content-Length` is smaller. */
export function readNodeBody(request: NodeRequest, bounds: BodyBounds): Promise<string | HttpErrorResponse> {
  const { maxBytes } = bounds
  if (request.readableDidRead || request.readableEnded) return Promise.resolve(readParsedBody(request.body, maxBytes))
  // The body is not read here. node:http discards its bytes, so that the peer can read the answer.
  if (Number(request.headers['content-length']) > maxBytes) return Promise.resolve(bodyTooLargeResponse(maxBytes))
  return new Promise((resolve) => collectBody(request, bounds, resolve))
}

// The request keeps its listeners until its answer has ended, which may take days. So the listeners release the body
// when it is complete.
function collectBody(request: NodeRequest, { maxBytes, arrivingBody }: BodyBounds, resolve: FinishBody): void {
  const announcedBytes = Number(request.headers['content-length'] ?? Number.NaN)
  let finish: FinishBody | undefined = resolve
  let bytes: Buffer | undefined
  let receivedBytes = 0
  const end = (body: string | HttpErrorResponse): void => {
    finish?.(body)
    finish = undefined
    bytes = undefined
  }
  const findRejection = (): HttpErrorResponse | undefined => {
    if (receivedBytes > maxBytes) return bodyTooLargeResponse(maxBytes)
    // A complete body is parsed within this tick, so it is not counted.
    return request.complete ? undefined : arrivingBody.grow(receivedBytes)
  }
  request.on('data', (chunk: Buffer) => {
    const chunkStart = receivedBytes
    receivedBytes += chunk.length
    if (finish === undefined) {
      // If a peer continues to send after its answer, its connection is closed.
      if (receivedBytes > 2 * maxBytes + allowedExcessBytes) request.destroy()
      return
    }
    const rejection = findRejection()
    if (rejection !== undefined) return end(rejection)
    bytes = chunkStart === 0 ? chunk : appendChunk({ bytes, chunk, chunkStart, announcedBytes })
  })
  request.on('end', () => runInNextBatch(() => end(decodeUtf8(bytes?.subarray(0, receivedBytes)))))
  request.on('error', () => end(incompleteBodyResponse))
}

type FinishBody = (body: string | HttpErrorResponse) => void

const allowedExcessBytes = 1_048_576
const minBufferBytes = 65_536

/** A chunk, and the bytes that arrived before it. */
interface BodyChunk {
  readonly bytes: Buffer | undefined
  readonly chunk: Buffer
  readonly chunkStart: number
  /** The value of `Content-Length`, or NaN if there is none. */
  readonly announcedBytes: number
}

// All bytes are kept in one buffer. A list of chunks would need much more memory if the body arrives in tiny chunks.
function appendChunk({ bytes, chunk, chunkStart, announcedBytes }: BodyChunk): Buffer {
  const neededBytes = chunkStart + chunk.length
  if (bytes !== undefined && bytes.length >= neededBytes) {
    chunk.copy(bytes, chunkStart)
    return bytes
  }
  const largerBuffer = Buffer.allocUnsafe(chooseCapacity(neededBytes, announcedBytes))
  bytes?.copy(largerBuffer, 0, 0, chunkStart)
  chunk.copy(largerBuffer, chunkStart)
  return largerBuffer
}

// The buffer gets the announced length at once. If it doubled several times, the garbage collector would have to free
// each smaller copy.
function chooseCapacity(neededBytes: number, announcedBytes: number): number {
  if (neededBytes <= minBufferBytes) return minBufferBytes
  return announcedBytes >= neededBytes ? announcedBytes : 2 * neededBytes
}

function decodeUtf8(bytes: Buffer | undefined): string | HttpErrorResponse {
  if (bytes === undefined) return ''
  return isUtf8(bytes) ? bytes.toString('utf8') : invalidTextResponse
}

// A parsed body is serialized again, so that the same parser applies the same limits to every body.
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
    // A value that `JSON.parse` returned can fail here only because it is nested too deeply.
    return { ...invalidTextResponse, message: 'The body is nested too deeply' }
  }
}
