import {
  isMcpError,
  isRequest,
  isResponse,
  parseMessage,
  type ParseBounds,
  type RpcMessage,
  type RpcResponse,
} from '@x/schema'
import { parseBatch } from '@x/schema/internal'
import { type HttpClientResponse, HttpError, type HttpEvent } from '@x/transport-http/client'
import type { ServerMessageHandlers } from '../calls/port.ts'

const maxBatchLength = 1000
/** A server may ask for any pause before a new connection; these are the bounds, in milliseconds. */
const minRetryMs = 100
const maxRetryMs = 60_000

/** How one response's messages are read, and within which limits. */
export interface MessageReaderContext {
  readonly origin: string
  readonly bounds: ParseBounds
  readonly messageHandlers: ServerMessageHandlers
  /** Answers a request of the server. */
  readonly sendResponse: (response: RpcResponse) => Promise<void>
  readonly onResponse: (response: RpcResponse) => void
  /** Called when an answer could not be sent. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Passes each message of a text to its handler: one message, or a batch of revision 2025-03-26. Throws an `HttpError`
 * for any other text.
 */
export function readMessages(text: string, reader: MessageReaderContext): void {
  for (const message of parseMessages(text, reader)) receiveMessage(message, reader)
}

function parseMessages(text: string, { bounds, origin }: MessageReaderContext): readonly RpcMessage[] {
  try {
    const batch = parseBatch(text, maxBatchLength, bounds)
    if (batch === undefined) return [parseMessage(text, bounds)]
    return batch.filter((message): message is RpcMessage => !isMcpError(message))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable'
    throw new HttpError('protocol', `the server sent no JSON-RPC message: ${reason}`, { origin, cause })
  }
}

function receiveMessage(
  message: RpcMessage,
  { messageHandlers, sendResponse, onResponse, onFailure }: MessageReaderContext,
): void {
  if (isResponse(message)) return onResponse(message)
  if (!isRequest(message)) return messageHandlers.onNotification(message)
  messageHandlers
    .onRequest(message)
    .then((response) => (response === undefined ? undefined : sendResponse(response)))
    .catch(onFailure)
}

/** The position from which a broken stream may be resumed. */
export interface StreamPosition {
  lastEventId: string | undefined
  /** Milliseconds that the server wants the client to pause before a new connection. */
  retryMs: number | undefined
  /** How many events have arrived. `byteCount` counts the characters of their data. */
  eventCount: number
  byteCount: number
}

/** The first event of a stream only has an id. The official SDK stores it as an object, and may replay that. */
const emptyData: ReadonlySet<string> = new Set(['', '{}'])

/** Reads events until the stream ends, and records the position of each. */
export function readEvents(
  response: HttpClientResponse,
  reader: MessageReaderContext,
  { position, maxBytes }: { readonly position: StreamPosition; readonly maxBytes: number },
): Promise<void> {
  return response.readEvents({
    maxBytes,
    onRetry: (ms) => {
      position.retryMs = Math.min(maxRetryMs, Math.max(minRetryMs, ms))
    },
    onEvent: ({ data, id }: HttpEvent) => {
      position.eventCount += 1
      position.byteCount += data.length
      if (id !== undefined) position.lastEventId = id
      if (!emptyData.has(data)) readMessages(data, reader)
    },
  })
}
