import { basename } from 'node:path'
import { isCancelled, raceWithCancellation } from '@x/core'
import type { Call, Connection, Exchange, ObservableState, ProcessView } from '@x/exchange'
import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import { resolveConnectionSettings, stdioOptionTable, type StdioConnectOptions } from './options.ts'
import { Supervisor } from './supervisor.ts'

/** A connection to a server in a child process. The process runs until the connection is closed. */
export interface StdioConnection extends Connection, ObservableState {
  readonly state: ObservableState['state']
  readonly onStateChange: ObservableState['onStateChange']
  /**
   * Names the server in errors: `stdio:` and the program, without folder and arguments, because these may contain
   * secrets.
   */
  readonly url: string
  /** State of the process. */
  readonly process: ProcessView
  /** Aborts when {@link close} is called, so that no caller retries. */
  readonly closed: AbortSignal
  /** Writes a notification to the process, and starts the process if none runs. */
  notify(notification: RpcNotification): Promise<void>
  /** Starts the process before the first call. Rejects with a `StdioError` if the process cannot be started. */
  start(): Promise<void>
  /**
   * Rejects pending calls with a `StdioError` `closed`, then ends the process and those that it has started: closes its
   * stdin, sends SIGTERM if one still runs after `graceMs`, and SIGKILL after another `graceMs`. Resolves when the
   * process has ended.
   */
  close(): Promise<void>
}

/**
 * Runs a server in a child process (basic/transports/stdio). The first call starts it, and so does the next call after
 * it has ended. Several clients may share the connection.
 *
 * A call rejects with {@link StdioError} if no response arrives. Of the environment of this process, the child gets
 * only a few variables (see `env`).
 *
 * @example
 * await using connection = connectStdio({ command: 'node', args: ['server.js'] })
 * const client = createClient(connection, { name: 'host', version: '1.0.0' })
 */
export function connectStdio(options: StdioConnectOptions): StdioConnection {
  const settings = resolveConnectionSettings(options, stdioOptionTable, 'connectStdio')
  if (typeof options.command !== 'string' || !Array.isArray(options.args ?? []))
    throw new TypeError("connectStdio takes a command and a list, as in { command: 'node', args: ['server.mjs'] }")
  const supervisor = new Supervisor(options, settings)
  const exchange: Exchange = (request, call) => {
    const connection = supervisor.readyConnection
    return connection === undefined ? sendWhenOpen(supervisor, request, call) : connection.send(request, call)
  }
  const notify = async (notification: RpcNotification): Promise<void> => {
    const connection = supervisor.readyConnection ?? (await supervisor.open())
    connection.notify(notification)
  }
  const closeController = new AbortController()
  const close = (): Promise<void> => {
    const reason = new StdioError('closed', 'The connection was closed here')
    closeController.abort(reason)
    return supervisor.close(reason)
  }
  const { process, states } = supervisor
  return {
    exchange,
    notify,
    url: `stdio:${basename(options.command)}`,
    process,
    get state() {
      return states.state
    },
    onStateChange: states.onStateChange,
    closed: closeController.signal,
    start: async () => void (await supervisor.open()),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function sendWhenOpen(supervisor: Supervisor, request: RpcRequest, call: Call): Promise<RpcResponse> {
  if (isCancelled(call)) throw call.signal.reason
  const connection = await raceWithCancellation(supervisor.open(), call)
  return connection.send(request, call)
}
