import { isRequest, isResponse, parseMessage, type ParseBounds, type RpcMessage, type RpcResponse } from '@x/schema'
import { createParser } from 'eventsource-parser'
import { HttpError } from './http-error.ts'

/** One event of an SSE stream. */
export interface HttpEvent {
  readonly data: string
  /** Value for the header `Last-Event-ID` if the stream is opened again. */
  readonly id: string | undefined
}

/** Receives one stream's events. */
export interface HttpEventListener {
  /** Limit in bytes for the whole stream, including comments. */
  readonly maxBytes: number
  /** Called for each event of the type `message`, including events without data. */
  readonly onEvent: (event: HttpEvent) => void
  /** Called if the server says how many milliseconds a client should wait before it opens the stream again. */
  readonly onRetry?: ((ms: number) => void) | undefined
}

/**
 * Reads the messages of an SSE body, chunk by chunk. Comments, ids, retry times and events of other types are skipped.
 * Throws {@link HttpError} `too_large` if a limit is exceeded, and `protocol` if an event is not a message.
 */
export function createEventStreamReader({
  onMessage,
  ...options
}: Pick<HttpEventListener, 'maxBytes'> & {
  readonly origin: string
  readonly bounds: ParseBounds
  readonly onMessage: (message: RpcMessage) => void
}): (chunk: Uint8Array) => void {
  const onEvent = ({ data }: HttpEvent): void => {
    if (data !== '') onMessage(parseEventMessage(data, options.bounds, options.origin))
  }
  return createEventDecoder({ ...options, onEvent })
}

/** Reads the events of an SSE body, chunk by chunk. Throws {@link HttpError} `too_large` if a limit is exceeded. */
export function createEventDecoder({
  origin,
  bounds,
  maxBytes,
  onEvent,
  onRetry,
}: HttpEventListener & { readonly origin: string; readonly bounds: ParseBounds }): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  const normalizeLineEnds = createLineEndNormalizer()
  let totalBytes = 0
  const streamTooLargeError = (subject: string, limitBytes: number): HttpError =>
    new HttpError('too_large', `${subject} is longer than ${limitBytes} bytes`, { origin })
  const parser = createParser({
    // This library's parser counts characters, of which a text never has more than bytes. Our parser of messages counts
    // the bytes afterwards.
    maxBufferSize: bounds.bytes + maxOverheadLength,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw streamTooLargeError('an event', bounds.bytes)
    },
    ...(onRetry && { onRetry }),
    onEvent: ({ event, data, id }) => {
      if (event !== undefined && event !== 'message') return
      if (data.length > bounds.bytes) throw streamTooLargeError('an event', bounds.bytes)
      onEvent({ data, id })
    },
  })
  return (chunk) => {
    totalBytes += chunk.byteLength
    if (totalBytes > maxBytes) throw streamTooLargeError('the stream', maxBytes)
    parser.feed(decoder.decode(normalizeLineEnds(chunk), { stream: true }))
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Attack: for a chunk of many CRs the SSE parser would take quadratic time, because it searches the next LF at every
 * CR. Every line end becomes LF instead, in the bytes, because in UTF-8 no other character contains those of CR or LF.
 */
function createLineEndNormalizer(): (chunk: Uint8Array) => Uint8Array {
  let endsWithCarriageReturn = false
  return (chunk) => {
    if (chunk.length === 0) return chunk
    const remainingBytes = endsWithCarriageReturn && chunk[0] === lineFeed ? chunk.subarray(1) : chunk
    endsWithCarriageReturn = chunk.at(-1) === carriageReturn
    const firstIndex = remainingBytes.indexOf(carriageReturn)
    return firstIndex === -1 ? remainingBytes : replaceCarriageReturns(remainingBytes, firstIndex)
  }
}

// A single pass over the bytes takes less time than a replacement in the decoded text.
function replaceCarriageReturns(bytes: Uint8Array, firstIndex: number): Uint8Array {
  const normalizedBytes = new Uint8Array(bytes)
  let length = firstIndex
  let previousByte = 0
  for (let index = firstIndex; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0
    if (byte !== lineFeed || previousByte !== carriageReturn) {
      normalizedBytes[length] = byte === carriageReturn ? lineFeed : byte
      length += 1
    }
    previousByte = byte
  }
  return normalizedBytes.subarray(0, length)
}

// Room for what else is in the SSE parser's buffer: field names, ids and the line breaks within an event.
const maxOverheadLength = 1024

/** Parses the message in a body or event. Throws {@link HttpError} `protocol` if it is invalid. */
export function parseEventMessage(text: string, bounds: ParseBounds, origin: string): RpcMessage {
  try {
    return parseMessage(text, bounds)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'unreadable'
    throw new HttpError('protocol', `the server sent no JSON-RPC message: ${problem}`, { origin, cause })
  }
}

/**
 * Lets a response through; undefined for a notification. Throws {@link HttpError} `protocol` for a request, which a
 * server must not send.
 */
export function requireResponse(message: RpcMessage, origin: string): RpcResponse | undefined {
  if (isResponse(message)) return message
  // basic/transports/streamable-http, receiving messages: a server must not send independent requests on any stream.
  if (!isRequest(message)) return undefined
  throw new HttpError('protocol', 'the server sent a request, which this revision does not have', { origin })
}
