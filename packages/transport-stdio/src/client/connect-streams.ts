import type { Exchange, RpcRequest, Call } from '@x/schema'
import { closeStreams } from '../close-streams.ts'
import { StdioError } from '../stdio-error.ts'
import { createLink } from './link.ts'
import { linkSettings, type StreamConnectOptions } from './options.ts'

/** An exchange over a pair of streams, until one side closes them. */
export interface StreamConnection extends Exchange, AsyncDisposable {
  /** Aborts with {@link close}, or when the server has closed the streams: nothing will be answered any more. */
  readonly closed: AbortSignal
  /** Rejects what is under way with a `StdioError` `closed`, and closes the streams. */
  close(): Promise<void>
}

/**
 * Connects to a server at the other end of streams that are open already, such as a Unix or TCP socket: the exchange that a
 * client uses (basic/transports/stdio). When the streams end it rejects with {@link StdioError} `closed`, for good.
 *
 * @example
 * const socket = connect('/run/mcp.sock')
 * await using connection = connectStreams({ input: socket, output: socket })
 */
export function connectStreams(options: StreamConnectOptions): StreamConnection {
  const settings = linkSettings(options)
  const streams = { input: options.input, output: options.output }
  const closed = new AbortController()
  const end = (reason: StdioError): void => {
    closed.abort(reason)
    link.fail(reason)
  }
  const onEnd = (cause?: unknown): void => {
    const message = cause === undefined ? 'The server closed the streams' : 'The streams failed'
    end(new StdioError('closed', message, { cause }))
  }
  const link = createLink({ streams, settings, onEnd })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    end(new StdioError('closed', 'The connection was closed here'))
    closing ??= closeStreams(streams, settings.graceMs, settings.clock)
    return closing
  }
  const exchange = (request: RpcRequest, call: Call): ReturnType<Exchange> => link.send(request, call)
  return Object.assign(exchange, { closed: closed.signal, close, [Symbol.asyncDispose]: close })
}
