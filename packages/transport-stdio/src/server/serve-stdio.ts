import {
  encodeMessage,
  errorCodes,
  errorResponse,
  type Exchange,
  isNotification,
  isRequest,
  McpError,
  type ParseBounds,
  parseMessage,
  unreadRequestId,
} from '@x/schema'
import { readCancelled } from '../cancelled.ts'
import { excerptId } from '../excerpt-id.ts'
import type { LineFlaw } from '../lines.ts'
import { type MessageWriter, messageWriter } from '../message-writer.ts'
import { readLines } from '../read-lines.ts'
import { type Calls, createCalls } from './calls.ts'
import { compileSettings, type ServeStdioOptions } from './options.ts'
import { openEnds } from './ends.ts'
import { stopServing } from './stop-serving.ts'

/** A service on a pair of streams. */
export interface StdioServer extends AsyncDisposable {
  /** Resolves when the service has ended: the client closed its end, the process was told to stop, or `close` was called. */
  readonly closed: Promise<void>
  /**
   * Ends the service: running calls are told to stop and have `graceMs` to answer, then the streams are closed. Resolves
   * with {@link StdioServer.closed}.
   */
  close(): Promise<void>
}

/**
 * Serves an exchange on a pair of streams, a message a line (basic/transports/stdio): on stdin and stdout, or on any others, such
 * as a socket. Call it once for each connection.
 *
 * On stdin and stdout it also sees to the process: what others print goes to stderr, SIGTERM and SIGINT end the service as the
 * end of stdin does, and the process ends with it.
 *
 * @example
 * serveStdio(createServer({ name: 'demo', version: '1.0.0', tools: [greet] }))
 *
 * @throws TypeError or RangeError for options that make no sense, and Error when stdin and stdout are served already.
 */
export function serveStdio(exchange: Exchange, options: ServeStdioOptions = {}): StdioServer {
  const settings = compileSettings(options)
  const ends = openEnds(options, settings)
  const intake = readLines(ends.input, settings.maxLineBytes, {
    onLine: (text) => take(text, settings.bounds, { calls, writer }),
    onFlaw: (flaw) => writer.write(encodeMessage(refusalOf(flaw, settings.maxLineBytes))),
    onEnd: () => stop('The client closed the connection'),
  })
  // While the reader is behind, nothing is read that would have to be answered.
  const events = { onFull: intake.pause, onDrain: intake.resume, onFailure: () => stop('The client is gone') }
  const writer = messageWriter(ends.output, events, ends.send)
  const calls = createCalls(exchange, writer, settings)
  const { closed, stop } = createEnd((reason) => {
    ignoreStops()
    return stopServing({ intake, calls, writer, ends, settings }, reason)
  })
  const ignoreStops = ends.watch(stop)
  const close = (): Promise<void> => {
    stop('The server is stopping')
    return closed
  }
  return { closed, close, [Symbol.asyncDispose]: close }
}

interface End {
  readonly closed: Promise<void>
  readonly stop: (reason: string) => void
}

/** An end that comes once, at the first reason for it. */
function createEnd(run: (reason: DOMException) => Promise<void>): End {
  let begun = false
  let over: () => void = () => {}
  const closed = new Promise<void>((resolve) => {
    over = resolve
  })
  const stop = (reason: string): void => {
    if (begun) return
    begun = true
    run(new DOMException(reason, 'AbortError')).then(over, over)
  }
  return { closed, stop }
}

interface Takers {
  readonly calls: Calls
  readonly writer: MessageWriter
}

/** One line: a request is run, a cancellation heeded, and what can be neither is answered with an error, never fatal. */
function take(text: string, bounds: ParseBounds, { calls, writer }: Takers): void {
  try {
    const message = parseMessage(text, bounds)
    if (isRequest(message)) return calls.run(message)
    // A client has no response to give; one is ignored, as every notification is that is not known here.
    if (!isNotification(message)) return
    const cancellation = readCancelled(message)
    if (cancellation !== undefined) calls.cancel(cancellation.requestId, cancellation.reason)
  } catch (error) {
    writer.write(encodeMessage(errorResponse(unreadRequestId(error), error)))
  }
}

function refusalOf(flaw: LineFlaw, maxLineBytes: number): ReturnType<typeof errorResponse> {
  const why =
    flaw.kind === 'too-long'
      ? `The message is too large: more than ${maxLineBytes} bytes`
      : 'The message is not valid UTF-8'
  return errorResponse(excerptId(flaw), new McpError(errorCodes.parse, why))
}
