import { isRequest, isResponse, parseMessage, type ParseBounds, type RpcMessage, type RpcResponse } from '@x/schema'
import { createParser } from 'eventsource-parser'
import { HttpError } from './http-error.ts'

/** One event of a stream. */
export interface HttpEvent {
  readonly data: string
  /** The value for the header `Last-Event-ID` if the stream is opened again. */
  readonly id: string | undefined
}

/** The functions that receive the events of one stream. */
export interface HttpEventListener {
  /** The limit for the bytes of the whole stream, including comments. */
  readonly maxBytes: number
  /** Called for each event of the type `message`, including events without data. */
  readonly onEvent: (event: HttpEvent) => void
  /** Called if the server sends the time in milliseconds that a client should wait before it opens the stream again. */
  readonly onRetry?: ((ms: number) => void) | undefined
}

/** The receiver of the messages of one stream, and the limits of the stream. */
export interface EventStreamOptions {
  readonly origin: string
  readonly bounds: ParseBounds
  /** The limit for the bytes of the whole stream, including comments. */
  readonly maxBytes: number
  readonly onMessage: (message: RpcMessage) => void
}

/**
 * Returns a function that takes the chunks of an SSE body and passes its messages to `onMessage`. It skips comments,
 * ids, retry times and events of other types. It throws {@link HttpError} `too_large` if a limit is exceeded, and
 * `protocol` if an event is not a message.
 */
export function createEventStreamReader({ onMessage, ...options }: EventStreamOptions): (chunk: Uint8Array) => void {
  const onEvent = ({ data }: HttpEvent): void => {
    if (data !== '') onMessage(parseEventMessage(data, options.bounds, options.origin))
  }
  return createEventDecoder({ ...options, onEvent })
}

/**
 * Returns a function that takes the chunks of an SSE body and passes its events to the listener. It throws
 * {@link HttpError} `too_large` if a limit is exceeded.
 */
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
    // The parser of this library counts characters, of which a text never has more than bytes. The parser of messages
    // counts the bytes afterwards.
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
 * Returns a function that replaces every line end in a stream with LF. Otherwise the SSE parser would search the next
 * LF at every CR, which takes quadratic time for a chunk of many CRs. The function works on bytes, because in UTF-8 no
 * other character contains the bytes of CR or LF.
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

// The buffer of the SSE parser also contains field names, ids and the line breaks within an event.
const maxOverheadLength = 1024

/** Parses the message in a body or in an event. Throws {@link HttpError} `protocol` if it is invalid. */
export function parseEventMessage(text: string, bounds: ParseBounds, origin: string): RpcMessage {
  try {
    return parseMessage(text, bounds)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'unreadable'
    throw new HttpError('protocol', `the server sent no JSON-RPC message: ${problem}`, { origin, cause })
  }
}

/**
 * Returns a message that is a response. Returns undefined for a notification. Throws {@link HttpError} `protocol` for a
 * request, which a server must not send.
 */
export function requireResponse(message: RpcMessage, origin: string): RpcResponse | undefined {
  if (isResponse(message)) return message
  // basic/transports/streamable-http, receiving messages: a server must not send independent requests on any stream.
  if (!isRequest(message)) return undefined
  throw new HttpError('protocol', 'the server sent a request, which this revision does not have', { origin })
}
