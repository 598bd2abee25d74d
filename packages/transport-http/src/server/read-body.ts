import type { BodyBounds, HttpErrorResponse } from './http-adapter.ts'
import { runInNextBatch } from './run-call.ts'
import { incompleteBodyResponse, bodyAlreadyReadResponse, bodyTooLargeResponse, invalidTextResponse } from './reply.ts'

/**
 * Reads a web request's body as UTF-8, up to the bound. Where the request has a length, HTTP ends the body there
 * (RFC 9112, 6.3 and RFC 9113, 8.1.1). A short one is read in one piece, for which platforms need no stream.
 */
export async function readBody(
  request: Request,
  { maxBytes, arrivingBody }: BodyBounds,
): Promise<string | HttpErrorResponse> {
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
    return request.body === null ? '' : await readBodyStream(request.body, { maxBytes, arrivingBody })
  } catch {
    return incompleteBodyResponse
  }
}

/** The announced length up to which a body is counted before it arrives. A longer one is counted on arrival. */
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
  { maxBytes, arrivingBody }: BodyBounds,
): Promise<string | HttpErrorResponse> {
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
      // The rest of the stream is not needed, and a failure to cancel it changes nothing.
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
