import { findMethodRow, type RpcResponse } from '@x/schema'
import { createEventStreamReader, parseEventMessage, requireResponse } from './event-stream.ts'
import { HttpError } from './http-error.ts'
import { readText, requireMatchingId, type ReplyContext } from './read-text.ts'
import { readErrorReply, readFailure } from './error-status.ts'
import type { IncomingResponse } from './sender.ts'

/**
 * After the response, the server should close its stream. The client does if it stays open for this many milliseconds,
 * or if more than `maxDrainBytes` arrive.
 */
const drainTimeoutMs = 1000
const maxDrainBytes = 65_536

/**
 * Reads the response to a request from one JSON object, or from a stream of events that ends with it
 * (basic/transports/streamable-http, receiving messages). Throws {@link HttpError} if the body contains no response.
 */
export async function readReply(incomingResponse: IncomingResponse, context: ReplyContext): Promise<RpcResponse> {
  const { status } = incomingResponse
  const mediaType = mediaTypeOf(incomingResponse.header('content-type'))
  if (!context.isContentDecoded) rejectCompressedBody(incomingResponse, context.origin)
  if (status < 200 || status >= 300) return readErrorReply(incomingResponse, mediaType, context)
  if (mediaType === 'text/event-stream') return readEventReply(incomingResponse, context)
  if (mediaType === 'application/json') return readJsonReply(incomingResponse, context)
  throw (await readFailure(incomingResponse, mediaType, context)).error
}

/** From a `Content-Type` header, in lower case and without parameters. */
export function mediaTypeOf(header: string | undefined): string | undefined {
  const typeEnd = header?.indexOf(';') ?? -1
  return (typeEnd === -1 ? header : header?.slice(0, typeEnd))?.trim().toLowerCase()
}

/** Attack: a small compressed body may expand to a large one. Throws {@link HttpError} `protocol`. */
export function rejectCompressedBody(incomingResponse: IncomingResponse, origin: string): void {
  if ((incomingResponse.header('content-encoding') ?? 'identity') === 'identity') return
  incomingResponse.stop()
  const message = 'the body is compressed, although no compression was accepted'
  throw new HttpError('protocol', message, { origin, status: incomingResponse.status })
}

async function readJsonReply(incomingResponse: IncomingResponse, context: ReplyContext): Promise<RpcResponse> {
  const { origin, bounds } = context
  const message = parseEventMessage(await readText(incomingResponse, bounds.bytes, context), bounds, origin)
  const response = requireResponse(message, origin)
  if (response === undefined) throw new HttpError('protocol', 'the body is not a response', { origin })
  return requireMatchingId(response, context)
}

function readEventReply(incomingResponse: IncomingResponse, context: ReplyContext): Promise<RpcResponse> {
  const { request, call, origin, bounds, clock } = context
  const maxBytes = findMethodRow(request.method)?.isStreaming ? Number.POSITIVE_INFINITY : context.maxStreamBytes
  return new Promise((resolve, reject) => {
    let drainState: { timer: unknown; bytes: number } | undefined
    const decodeChunk = createEventStreamReader({
      origin,
      bounds,
      maxBytes,
      onMessage: (message) => {
        if (drainState) return
        const response = requireResponse(message, origin)
        if (response === undefined && 'method' in message) return call.notify(message)
        if (response === undefined) return
        resolve(requireMatchingId(response, context))
        // Waits for the end of the stream, so that the next request can use the connection. Stopping the stream would
        // close it.
        drainState = { timer: clock.setTimeout(incomingResponse.stop, drainTimeoutMs), bytes: 0 }
      },
    })
    const takeChunk = (chunk: Uint8Array): void => {
      if (!drainState) {
        context.recordActivity()
        decodeChunk(chunk)
      } else {
        drainState.bytes += chunk.byteLength
        if (drainState.bytes > maxDrainBytes) incomingResponse.stop()
      }
    }
    const endDrain = (): void => drainState && clock.clearTimeout(drainState.timer)
    const rejectEnded = (): void => reject(new HttpError('closed', 'the stream ended without the response', { origin }))
    incomingResponse.read(takeChunk).finally(endDrain).then(rejectEnded, reject)
  })
}
