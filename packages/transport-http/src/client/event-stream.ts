import { isRequest, isResponse, parseMessage, type ParseBounds, type RpcMessage, type RpcResponse } from '@x/schema'
import { createParser } from 'eventsource-parser'
import { HttpError } from './http-error.ts'

/** One event of a stream. */
export interface HttpEvent {
  readonly data: string
  /** The value for `Last-Event-ID` when the stream is opened again. */
  readonly id: string | undefined
}

/** The receiver of the events of one stream. */
export interface HttpEventListener {
  /** The bytes of the whole stream, comments included. */
  readonly maxBytes: number
  /** Called for each event of the type `message`, also for events without data. */
  readonly onEvent: (event: HttpEvent) => void
  /** Called when the server names the pause before a new connection, in milliseconds. */
  readonly onRetry?: ((ms: number) => void) | undefined
}

interface EventDecoderOptions extends HttpEventListener {
  readonly origin: string
  readonly bounds: ParseBounds
}

/** The receiver of the messages of one stream, and its limits. */
export interface EventStreamOptions {
  readonly origin: string
  readonly bounds: ParseBounds
  /** The bytes of the whole stream, comments included. */
  readonly maxBytes: number
  readonly onMessage: (message: RpcMessage) => void
}

/**
 * Returns a function that takes the chunks of an SSE body and passes on its messages. Comments, ids, retry times and
 * events of other types are skipped. Throws {@link HttpError}: `too_large` past a bound, `protocol` for data that is no
 * message.
 */
export function createEventStreamReader({ onMessage, ...options }: EventStreamOptions): (chunk: Uint8Array) => void {
  const onEvent = ({ data }: HttpEvent): void => {
    if (data !== '') onMessage(parseEventMessage(data, options.bounds, options.origin))
  }
  return createEventDecoder({ ...options, onEvent })
}

/**
 * Returns a function that takes the chunks of an SSE body and passes on its events. Throws {@link HttpError}
 * `too_large` past a bound.
 */
export function createEventDecoder({
  origin,
  bounds,
  maxBytes,
  onEvent,
  onRetry,
}: EventDecoderOptions): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  const normalizeLineEnds = createLineEndNormalizer()
  let totalBytes = 0
  const streamTooLargeError = (subject: string, limitBytes: number): HttpError =>
    new HttpError('too_large', `${subject} is longer than ${limitBytes} bytes`, { origin })
  const parser = createParser({
    // This limit counts characters, and a text has at most as many characters as bytes. The parser of messages counts
    // the bytes.
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
 * Returns a function that replaces every line end of a stream by LF. It works on bytes, because in UTF-8 the bytes of
 * CR and LF are part of no other character. The SSE parser searches the next LF at every CR, so that a chunk of many CR
 * would take quadratic time.
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

// Works in one pass over the bytes, which takes less time than a replacement in the decoded text.
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

// Field names, ids and the newlines between the lines of one event count towards the parser's buffer as well.
const maxOverheadLength = 1024

/** Parses the message in a body or an event. Throws {@link HttpError} `protocol`. */
export function parseEventMessage(text: string, bounds: ParseBounds, origin: string): RpcMessage {
  try {
    return parseMessage(text, bounds)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'unreadable'
    throw new HttpError('protocol', `the server sent no JSON-RPC message: ${problem}`, { origin, cause })
  }
}

/**
 * Returns the message if it is a response, and undefined for a notification. Throws {@link HttpError} `protocol` for a
 * request of the server.
 */
export function requireResponse(message: RpcMessage, origin: string): RpcResponse | undefined {
  if (isResponse(message)) return message
  // basic/transports/streamable-http, receiving messages: independent requests must not be sent on any stream.
  if (!isRequest(message)) return undefined
  throw new HttpError('protocol', 'the server sent a request, which this revision does not have', { origin })
}
