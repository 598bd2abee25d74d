import { methodRow, type RpcResponse } from '@x/schema'
import { eventStream, parseEventMessage, responseIn } from './event-stream.ts'
import { HttpError } from './http-error.ts'
import { readText, describeServer, type ReplyContext } from './read-text.ts'
import { refusedStatus } from './refused-status.ts'
import type { Incoming } from './send.ts'

/** The server closes its stream with the response; one that lingers is closed after this, and after this much more. */
const drainTimeoutMs = 1000
const maxDrainBytes = 65_536

/**
 * Reads the answer of a request: one JSON object, or a stream of events that ends in the response
 * (basic/transports/streamable-http, receiving messages). Throws {@link HttpError} when there is none.
 */
export async function readReply(incoming: Incoming, context: ReplyContext): Promise<RpcResponse> {
  const { status } = incoming
  const type = mediaTypeOf(incoming.header('content-type'))
  if (!context.decodes) rejectCompressed(incoming, context.origin)
  if (status < 200 || status >= 300) return refusedStatus(incoming, type, context)
  if (type === 'text/event-stream') return readEventReply(incoming, context)
  if (type === 'application/json') return readJson(incoming, context)
  incoming.stop()
  const { origin } = context
  const what = type === undefined ? 'no body' : `a body of type ${type.slice(0, 100)}`
  const message = `${origin}: answered ${status} with ${what}; it must be application/json or text/event-stream`
  throw new HttpError('protocol', message, { origin, status })
}

/** The media type in a `Content-Type`, in lower case and without parameters. */
export function mediaTypeOf(header: string | undefined): string | undefined {
  const end = header?.indexOf(';') ?? -1
  return (end === -1 ? header : header?.slice(0, end))?.trim().toLowerCase()
}

/** Throws {@link HttpError} `protocol` for a compressed body, which could become a large one. */
export function rejectCompressed(incoming: Incoming, origin: string): void {
  if ((incoming.header('content-encoding') ?? 'identity') === 'identity') return
  incoming.stop()
  const message = `${origin}: the body is compressed, which was not asked for`
  throw new HttpError('protocol', message, { origin, status: incoming.status })
}

async function readJson(incoming: Incoming, context: ReplyContext): Promise<RpcResponse> {
  const { origin, bounds } = context
  const message = parseEventMessage(await readText(incoming, bounds.bytes, context), bounds, origin)
  const response = responseIn(message, origin)
  if (response === undefined) throw new HttpError('protocol', `${origin}: the body is no response`, { origin })
  return describeServer(response, context)
}

function readEventReply(incoming: Incoming, context: ReplyContext): Promise<RpcResponse> {
  const { request, call, origin, bounds, clock } = context
  const maxBytes = methodRow(request.method)?.streams ? Number.POSITIVE_INFINITY : context.maxStreamBytes
  return new Promise((resolve, reject) => {
    let after: { timer: unknown; bytes: number } | undefined
    const feed = eventStream({
      origin,
      bounds,
      maxBytes,
      onMessage: (message) => {
        if (after) return
        const response = responseIn(message, origin)
        if (response === undefined && 'method' in message) return call.notify(message)
        if (response === undefined) return
        resolve(describeServer(response, context))
        // Left open for its end, the connection serves the next request; closed, it would have to be made again.
        after = { timer: clock.setTimeout(incoming.stop, drainTimeoutMs), bytes: 0 }
      },
    })
    const take = (chunk: Uint8Array): void => {
      if (!after) {
        context.touch()
        feed(chunk)
      } else {
        after.bytes += chunk.byteLength
        if (after.bytes > maxDrainBytes) incoming.stop()
      }
    }
    const ended = (): void => {
      if (after) clock.clearTimeout(after.timer)
      reject(new HttpError('closed', `${origin}: the stream ended without the response`, { origin }))
    }
    incoming.read(take).then(ended, (error: unknown) => {
      if (after) clock.clearTimeout(after.timer)
      reject(error)
    })
  })
}
