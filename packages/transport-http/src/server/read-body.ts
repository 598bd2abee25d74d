import type { HttpErrorResponse } from './http-adapter.ts'
import { runInNextBatch } from './run-call.ts'
import { incompleteBodyResponse, bodyAlreadyReadResponse, bodyTooLargeResponse, invalidTextResponse } from './reply.ts'

/**
 * Reads a web request's body as UTF-8, and no more of it than the bound. Where the request says how long it is, HTTP
 * ends the body there (RFC 9112, 6.3; RFC 9113, 8.1.1) and it is read in one piece, for which adapters need not make a
 * stream.
 */
export async function readBody(request: Request, maxBytes: number): Promise<string | HttpErrorResponse> {
  if (request.bodyUsed) return bodyAlreadyReadResponse
  const contentLength = request.headers.get('content-length')
  if (Number(contentLength) > maxBytes) return bodyTooLargeResponse(maxBytes)
  try {
    if (contentLength !== null) {
      const bytes = await request.arrayBuffer()
      await new Promise<void>(runInNextBatch)
      return decodeWholeBody(bytes, maxBytes)
    }
    return request.body === null ? '' : await readBodyStream(request.body, maxBytes)
  } catch {
    return incompleteBodyResponse
  }
}

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
  maxBytes: number,
): Promise<string | HttpErrorResponse> {
  const decodeChunk = createDecoder()
  const reader = stream.getReader()
  let text = ''
  let byteCount = 0
  for (;;) {
    const { done, value } = await reader.read()
    byteCount += value?.byteLength ?? 0
    const decodedChunk = byteCount > maxBytes ? bodyTooLargeResponse(maxBytes) : decodeChunk(value)
    if (typeof decodedChunk !== 'string') {
      // Nobody waits for the rest, nor for what giving it up comes to.
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
