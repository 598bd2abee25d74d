import {
  type AsyncResource,
  type CallContext,
  clientAddressKey,
  createCall,
  type Server,
  type StreamConnection,
  type StreamPeer,
  transportKey,
  withContext,
} from '@x/exchange'
import { checkServer } from '@x/exchange/internal'
import {
  encodeMessage,
  errorCodes,
  errorResponse,
  isNotification,
  isRequest,
  McpError,
  type ParseBounds,
  parseMessage,
  rejectedRequestIdOf,
  type RpcNotification,
} from '@x/schema'
import { readCancellation } from '../request-notifications.ts'
import { idFromExcerpt, type SkippedLine } from '../line-splitter.ts'
import { MessageWriter } from '../message-writer.ts'
import { readLines } from '../read-lines.ts'
import { CallRegistry } from './call-registry.ts'
import {
  resolveServiceSettings,
  type ServeStdioOptions,
  type ServiceInternals,
  type ServiceSettings,
} from './options.ts'
import { openServiceStreams } from './service-streams.ts'
import { settlesWithin } from '@x/core'

/** A running service on a pair of streams. */
export interface StdioServer extends AsyncResource {
  /**
   * Resolves when the service has ended: the client closed its streams, the process got a stop signal, or `close` was
   * called.
   */
  readonly closed: Promise<void>
  /**
   * Ends the service. Running calls are asked to stop, and have `graceMs` to respond; then the streams are closed.
   * Resolves with {@link StdioServer.closed}.
   */
  close(): Promise<void>
}

/**
 * Serves over stdin and stdout, or over another pair of streams such as a socket, with one message per line
 * (basic/transports/stdio). Call it once for each connection.
 *
 * On stdin and stdout it also controls the process: other output goes to stderr, SIGTERM, SIGINT and the end of stdin
 * end the service, and the process exits afterwards. The server itself is closed when no other host serves it.
 *
 * @example
 * serveStdio(createServer({ name: 'demo', version: '1.0.0', tools: [greet] }))
 * @throws TypeError or RangeError for invalid options, and Error when stdin and stdout are already in use.
 */
export function serveStdio(server: Server, options: ServeStdioOptions = {}): StdioServer {
  return startStdioService(server, options)
}

/** Tests pass other internal values. */
export function startStdioService(
  server: Server,
  options: ServeStdioOptions,
  internals?: ServiceInternals,
): StdioServer {
  checkServer(server, 'serveStdio')
  const settings = resolveServiceSettings(options, server, internals)
  const serviceStreams = openServiceStreams(options, settings)
  const detachHost = server.attachHost()
  const call = withContext(createCall({ principal: settings.principal }), transportKey, 'stdio')
  const connectionCall = withContext(call, clientAddressKey, 'stdio')
  const receiveNotification = (message: RpcNotification): void => server.receive(message, connectionCall)
  const lineReader = readLines(serviceStreams.input, settings.maxLineBytes, {
    onLine: (text) =>
      handleLine(text, settings.bounds, { calls, writer, receiveNotification, streamConnection, emit: server.emit }),
    onSkipped: (skippedLine) => {
      const reason = skippedLine.kind === 'too_long' ? 'size' : 'syntax'
      server.emit?.({ type: 'request_refused', transport: 'stdio', status: undefined, reason })
      writer.write(encodeMessage(skippedLineResponse(skippedLine, settings.maxLineBytes)))
    },
    onEnd: () => stop('The client closed the connection'),
  })
  // While the client reads too slowly, no more requests are read: their responses would have to wait too.
  const events = {
    onFull: lineReader.pause,
    onDrain: lineReader.resume,
    onFailure: () => stop('The client has disconnected'),
  }
  const writer = new MessageWriter(serviceStreams.output, events, serviceStreams.send)
  const calls = new CallRegistry(server.exchange, writer, settings)
  const streamConnection = server.adapters.stream?.connect(createStreamPeer(writer, settings, connectionCall.context))
  const { closed, stop } = createShutdown(async (reason) => {
    streamConnection?.close()
    lineReader.stop()
    calls.stop(reason)
    await stopServing(calls, writer, settings, () => detachHost({ graceMs: settings.graceMs }))
    ignoreStopRequests()
    await serviceStreams.close()
  })
  const ignoreStopRequests = serviceStreams.onStopSignal(stop)
  const close = (): Promise<void> => {
    stop('The server is stopping')
    return closed
  }
  return { closed, close, [Symbol.asyncDispose]: close }
}

function createShutdown(runShutdown: (reason: DOMException) => Promise<void>): {
  readonly closed: Promise<void>
  readonly stop: (reason: string) => void
} {
  let hasBegun = false
  let onEnd: () => void = () => {}
  const closed = new Promise<void>((resolve) => {
    onEnd = resolve
  })
  const stop = (reason: string): void => {
    if (hasBegun) return
    hasBegun = true
    runShutdown(new DOMException(reason, 'AbortError')).then(onEnd, onEnd)
  }
  return { closed, stop }
}

function createStreamPeer(writer: MessageWriter, settings: ServiceSettings, context: CallContext): StreamPeer {
  const { principal, clock, onError, maxQueuedBytes, log } = settings
  const notify = (message: RpcNotification): boolean => {
    const text = encodeMessage(message, log)
    if (writer.getQueuedBytes() + text.length > maxQueuedBytes) return false
    writer.write(text)
    return true
  }
  return { principal, context, clock, onError, notify }
}

function handleLine(
  text: string,
  bounds: ParseBounds,
  {
    calls,
    writer,
    receiveNotification,
    streamConnection,
    emit,
  }: {
    readonly calls: CallRegistry
    readonly writer: MessageWriter
    readonly receiveNotification: (message: RpcNotification) => void
    readonly streamConnection: StreamConnection | undefined
    readonly emit: Server['emit']
  },
): void {
  try {
    const message = parseMessage(text, bounds)
    if (isRequest(message)) return calls.run(message, streamConnection?.handlerFor(message))
    streamConnection?.receive(message)
    // A client of this revision sends no responses, so one is ignored, and so is an unknown notification.
    if (!isNotification(message)) return
    const cancellation = readCancellation(message)
    if (cancellation !== undefined) calls.cancel(cancellation.requestId, cancellation.reason)
    else receiveNotification(message)
  } catch (error) {
    emit?.({ type: 'request_refused', transport: 'stdio', status: undefined, reason: 'syntax' })
    writer.write(encodeMessage(errorResponse(rejectedRequestIdOf(error), error)))
  }
}

function skippedLineResponse(skippedLine: SkippedLine, maxLineBytes: number): ReturnType<typeof errorResponse> {
  const problem =
    skippedLine.kind === 'too_long'
      ? `The message is too large: more than ${maxLineBytes} bytes`
      : 'The message is not valid UTF-8'
  return errorResponse(idFromExcerpt(skippedLine), new McpError(errorCodes.parse, problem))
}

async function stopServing(
  calls: CallRegistry,
  writer: MessageWriter,
  { graceMs, clock }: ServiceSettings,
  releaseHost: () => Promise<void>,
): Promise<void> {
  await settlesWithin(calls.waitForAllCalls(), graceMs, clock)
  calls.rejectPendingCalls()
  // A client that reads nothing must not delay the end.
  await settlesWithin(writer.flush(), graceMs, clock)
  // Nor must an extension that never finishes closing. The limit includes the grace time of the server itself, which is
  // `graceMs`.
  await settlesWithin(releaseHost(), 2 * graceMs, clock)
}
