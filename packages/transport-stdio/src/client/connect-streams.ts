import { checkArgument } from '@x/core'
import type { Connection, Exchange, ObservableState } from '@x/exchange'
import { ConnectionStateSource } from '@x/exchange/internal'
import type { RpcNotification } from '@x/schema'
import { closeStreams } from '../close-streams.ts'
import { StdioError } from '../stdio-error.ts'
import { ClientConnection } from './client-connection.ts'
import {
  type ConnectionSettings,
  resolveConnectionSettings,
  type StreamConnectOptions,
  streamOptionTable,
} from './options.ts'

/** A connection over a pair of streams. It lasts until one side closes the streams. */
export interface ClientStreamConnection extends Connection, ObservableState {
  readonly state: ObservableState['state']
  readonly onStateChange: ObservableState['onStateChange']
  /** Aborts when {@link close} is called or the server has closed the streams. No response arrives afterwards. */
  readonly closed: AbortSignal
  /** Writes a notification. Rejects after the streams have ended. */
  notify(notification: RpcNotification): Promise<void>
  /** Rejects pending calls with a `StdioError` `closed`, and closes the streams. */
  close(): Promise<void>
}

/**
 * Connects to a server over streams that are already open, such as a Unix or TCP socket (basic/transports/stdio). Once
 * they have ended, every call rejects with {@link StdioError} `closed`.
 *
 * @example
 * const socket = connect('/run/mcp.sock')
 * await using connection = connectStreams({ input: socket, output: socket })
 */
export function connectStreams(options: StreamConnectOptions): ClientStreamConnection {
  return createStreamConnection(options)
}

/** Tests pass another limit for the length of lines. */
export function createStreamConnection(
  options: StreamConnectOptions,
  internals?: Pick<ConnectionSettings, 'maxLineBytes'>,
): ClientStreamConnection {
  const settings = { ...resolveConnectionSettings(options, streamOptionTable, 'connectStreams'), ...internals }
  checkArgument(options, { where: 'connectStreams', takes: 'an object with two streams', needs: ['input', 'output'] })
  const streams = { input: options.input, output: options.output }
  const closeController = new AbortController()
  const states = new ConnectionStateSource()
  const failConnection = (reason: StdioError): void => {
    states.close(reason)
    closeController.abort(reason)
    connection.fail(reason)
  }
  const onEnd = (cause?: unknown): void => {
    const message = cause === undefined ? 'The server closed the streams' : 'The streams failed'
    failConnection(new StdioError('closed', message, { cause }))
  }
  const connection = new ClientConnection(streams, settings, onEnd)
  let closePromise: Promise<void> | undefined
  const close = (): Promise<void> => {
    failConnection(new StdioError('closed', 'The connection was closed here'))
    closePromise ??= closeStreams(streams, settings.graceMs, settings.clock)
    return closePromise
  }
  const exchange: Exchange = async (request, call) => {
    const response = await connection.send(request, call)
    states.open()
    return response
  }
  const notify = async (notification: RpcNotification): Promise<void> => {
    closeController.signal.throwIfAborted()
    connection.notify(notification)
  }
  return {
    exchange,
    notify,
    get state() {
      return states.state
    },
    onStateChange: states.onStateChange,
    closed: closeController.signal,
    close,
    [Symbol.asyncDispose]: close,
  }
}
