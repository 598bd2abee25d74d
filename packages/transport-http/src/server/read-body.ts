import type { HttpErrorResponse } from '@x/exchange'
import type { ArrivingBody } from './http-adapter.ts'
import { runInNextBatch } from './run-call.ts'
import { incompleteBodyResponse, bodyAlreadyReadResponse, bodyTooLargeResponse, invalidTextResponse } from './reply.ts'

/**
 * Reads the body of a web request as UTF-8, up to the limit. A body cannot exceed the announced length (RFC 9112,
 * section 6.3, and RFC 9113, section 8.1.1), so a short one is read as a whole, and the platform needs no stream for
 * it.
 */
export async function readBody(request: Request, arrivingBody: ArrivingBody): Promise<string | HttpErrorResponse> {
  const { maxBytes } = arrivingBody
  if (request.bodyUsed) return bodyAlreadyReadResponse
  const contentLength = request.headers.get('content-length')
  if (Number(contentLength) > maxBytes) return bodyTooLargeResponse(maxBytes)
  try {
    if (contentLength !== null && Number(contentLength) <= maxWholeBodyBytes) {
      const rejection = arrivingBody.grow(Number(contentLength))
      if (rejection !== undefined) return rejection
      const bytes = await request.arrayBuffer()
      await new Promise<void>(runInNextBatch)
      return decodeWholeBody(bytes, maxBytes)
    }
    return request.body === null ? '' : await readBodyStream(request.body, arrivingBody)
  } catch {
    return incompleteBodyResponse
  }
}

/**
 * Up to this announced length the whole body is counted before it arrives; a longer one is counted while it arrives.
 */
const maxWholeBodyBytes = 65_536

function decodeWholeBody(bytes: ArrayBuffer, maxBytes: number): string | HttpErrorResponse {
  if (bytes.byteLength > maxBytes) return bodyTooLargeResponse(maxBytes)
  try {
    return wholeBodyDecoder.decode(bytes)
  } catch {
    return invalidTextResponse
  }
}

const fatalDecodingOptions = { fatal: true, ignoreBOM: true } as const
const wholeBodyDecoder = new TextDecoder('utf-8', fatalDecodingOptions)

async function readBodyStream(
  stream: ReadableStream<Uint8Array>,
  arrivingBody: ArrivingBody,
): Promise<string | HttpErrorResponse> {
  const { maxBytes } = arrivingBody
  const decodeChunk = createDecoder()
  const reader = stream.getReader()
  let text = ''
  let byteCount = 0
  for (;;) {
    const { done, value } = await reader.read()
    byteCount += value?.byteLength ?? 0
    const rejection = byteCount > maxBytes ? bodyTooLargeResponse(maxBytes) : arrivingBody.grow(byteCount)
    const decodedChunk = rejection ?? decodeChunk(value)
    if (typeof decodedChunk !== 'string') {
      // The rest of the stream is not needed, nor an error while it is cancelled.
      reader.cancel().catch(() => {})
      return decodedChunk
    }
    text += decodedChunk
    if (done) return text
  }
}

function createDecoder(): (bytes: Uint8Array | undefined) => string | HttpErrorResponse {
  const decoder = new TextDecoder('utf-8', fatalDecodingOptions)
  return (bytes) => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch {
      return invalidTextResponse
    }
  }
}
