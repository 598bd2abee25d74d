import type { Clock } from '@x/core'
import type { Call, ParseBounds, RpcRequest, RpcResponse } from '@x/schema'
import { HttpError } from './http-error.ts'
import type { IncomingResponse } from './sender.ts'

/** Reads the text of a body of at most `limit` bytes. Throws {@link HttpError} `too_large` or `protocol`. */
export async function readText(
  incomingResponse: IncomingResponse,
  maxBytes: number,
  context: Pick<ReplyContext, 'origin' | 'recordActivity'>,
): Promise<string> {
  const { origin } = context
  const textTooLargeError = (): HttpError =>
    new HttpError('too_large', `the body is longer than ${maxBytes} bytes`, {
      origin,
      status: incomingResponse.status,
    })
  if (Number(incomingResponse.header('content-length') ?? 0) > maxBytes) {
    incomingResponse.stop()
    throw textTooLargeError()
  }
  const chunks: Uint8Array[] = []
  let byteCount = 0
  await incomingResponse.read((chunk) => {
    context.recordActivity()
    byteCount += chunk.byteLength
    if (byteCount > maxBytes) throw textTooLargeError()
    chunks.push(chunk)
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(concatChunks(chunks, byteCount))
  } catch (cause) {
    throw new HttpError('protocol', 'the body is not UTF-8', {
      origin,
      status: incomingResponse.status,
      cause,
    })
  }
}

function concatChunks(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [firstChunk] = chunks
  if (chunks.length === 1 && firstChunk) return firstChunk
  const joinedBytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    joinedBytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return joinedBytes
}

/** The request of a response, and the limits of the response. */
export interface ReplyContext {
  readonly request: RpcRequest
  readonly call: Call
  readonly origin: string
  readonly bounds: ParseBounds
  readonly maxStreamBytes: number
  readonly clock: Clock
  /** True if the platform decompresses bodies. */
  readonly isContentDecoded: boolean
  /** Values of sent headers, which an error must not contain. */
  readonly secrets: readonly string[]
  /** Called each time that bytes arrive. */
  readonly recordActivity: () => void
}

/**
 * Returns a response whose id is the id of this request. Throws {@link HttpError} `protocol` for another id. The id may
 * be the request's number as a string, as some servers write it.
 */
export function requireMatchingId(response: RpcResponse, { request, origin }: ReplyContext): RpcResponse {
  // The response of an error has no id if the server could not read the request (basic/index, error responses).
  if (response.id === request.id || (response.id === undefined && 'error' in response)) return response
  if (response.id === String(request.id)) return { ...response, id: request.id }
  throw new HttpError('protocol', 'the response carries the id of another request', { origin })
}
