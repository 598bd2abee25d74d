import { isRequest, isResponse, parseMessage, type ParseBounds, type RpcMessage, type RpcResponse } from '@x/schema'
import { createParser } from 'eventsource-parser'
import { HttpError } from './http-error.ts'

/** One event of a stream. */
export interface HttpEvent {
  readonly data: string
  /** For `Last-Event-ID`. */
  readonly id: string | undefined
}

/** Receiver of the events of one stream. */
export interface HttpEventListener {
  /** The bytes of the whole stream, comments included. */
  readonly maxBytes: number
  /** Called for events of the type `message` alone, those without data included. */
  readonly onEvent: (event: HttpEvent) => void
  /** The server names the pause before a new connection, in milliseconds. */
  readonly onRetry?: ((ms: number) => void) | undefined
}

interface EventDecoderOptions extends HttpEventListener {
  readonly origin: string
  readonly bounds: ParseBounds
}

/** Reader of one stream of messages. */
export interface EventStreamOptions {
  readonly origin: string
  readonly bounds: ParseBounds
  /** The bytes of the whole stream, comments included. */
  readonly maxBytes: number
  readonly onMessage: (message: RpcMessage) => void
}

/**
 * Turns the chunks of an SSE body into messages, however they were cut. Comments, ids, retry times and events of other
 * types are skipped. Throws {@link HttpError}: `too_large` past a bound, `protocol` for data that is no message.
 */
export function createEventStreamReader({ onMessage, ...options }: EventStreamOptions): (chunk: Uint8Array) => void {
  const onEvent = ({ data }: HttpEvent): void => {
    if (data !== '') onMessage(parseEventMessage(data, options.bounds, options.origin))
  }
  return createEventDecoder({ ...options, onEvent })
}

/**
 * Turns the chunks of an SSE body into events, however they were cut. Throws {@link HttpError} `too_large` past a
 * bound.
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
    // This bound counts characters, of which a message has at most as many as bytes. The parser of messages counts
    // bytes.
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
 * Returns a function that writes every line end of a stream as LF, in bytes: UTF-8 has CR and LF in no other character.
 * The parser looks for the next LF at every CR, so that a chunk of bare CR would cost the square of its length.
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

// One pass: a replacement in text costs more for each CR than the parser for its line.
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

/** A message of a body or an event. Throws {@link HttpError} `protocol`. */
export function parseEventMessage(text: string, bounds: ParseBounds, origin: string): RpcMessage {
  try {
    return parseMessage(text, bounds)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'unreadable'
    throw new HttpError('protocol', `the server sent no JSON-RPC message: ${problem}`, { origin, cause })
  }
}

/** The response among messages. Throws {@link HttpError} `protocol` when the message is a request of the server's. */
export function requireResponse(message: RpcMessage, origin: string): RpcResponse | undefined {
  if (isResponse(message)) return message
  // basic/transports/streamable-http, receiving messages: independent requests must not be sent on any stream.
  if (!isRequest(message)) return undefined
  throw new HttpError('protocol', 'the server sent a request, which this revision does not have', { origin })
}
