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
/** The smallest and the largest pause before a new connection that a server may request, in milliseconds. */
const minRetryMs = 100
const maxRetryMs = 60_000

/** The functions and limits with which the messages of one response are read. */
export interface MessageReaderContext {
  readonly origin: string
  readonly bounds: ParseBounds
  readonly messageHandlers: ServerMessageHandlers
  /** Sends an answer to a request of the server. */
  readonly sendResponse: (response: RpcResponse) => Promise<void>
  /** Called with every response. */
  readonly onResponse: (response: RpcResponse) => void
  /** Called when an answer could not be sent. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Parses a text, which contains one message or a batch of revision 2025-03-26, and passes each message to its handler.
 * Throws an `HttpError` for any other text.
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
  /** The pause before a new connection that the server has requested, in milliseconds. */
  retryMs: number | undefined
  /** The number of events that have arrived. `byteCount` is the number of characters in their data. */
  eventCount: number
  byteCount: number
}

/** Reads a stream of events to its end, and records the position of each event. */
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
      if (data !== '') readMessages(data, reader)
    },
  })
}
