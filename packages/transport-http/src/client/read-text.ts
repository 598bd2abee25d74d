import type { Clock } from '@x/core'
import type { Call } from '@x/exchange'
import type { ParseBounds, RpcRequest, RpcResponse } from '@x/schema'
import { HttpError } from './http-error.ts'
import type { IncomingResponse } from './sender.ts'

/**
 * Reads the text of a body. Throws {@link HttpError} `too_large` for more than `maxBytes` bytes, and `protocol` for
 * invalid text.
 */
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

/** The request that a response belongs to, and the limits for the response. */
export interface ReplyContext {
  readonly request: RpcRequest
  readonly call: Call
  readonly origin: string
  readonly bounds: ParseBounds
  readonly maxStreamBytes: number
  readonly clock: Clock
  /** True if the platform decompresses bodies by itself. */
  readonly isContentDecoded: boolean
  /** Values of request headers that no error may contain. */
  readonly secrets: readonly string[]
  /** Called each time bytes arrive. */
  readonly recordActivity: () => void
}

/**
 * Throws {@link HttpError} `protocol` for a response with the id of another request. Some servers send a numeric id as
 * a string, which is accepted.
 */
export function requireMatchingId(response: RpcResponse, { request, origin }: ReplyContext): RpcResponse {
  if (response.id === request.id) return response
  // Without an id, the server has not read the request (basic/index, error responses). Over HTTP an answer belongs to
  // its request all the same; a proxy passes it on over stdio, where only the id says so.
  const isUnread = response.id === undefined && 'error' in response
  if (isUnread || response.id === String(request.id)) return { ...response, id: request.id }
  throw new HttpError('protocol', 'the response carries the id of another request', { origin })
}
