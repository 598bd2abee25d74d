import { basename } from 'node:path'
import { abortReasonOf, isCancelled, raceWithCancellation } from '@x/core'
import type { Call, Connection, Exchange, RpcRequest, RpcResponse } from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import { resolveConnectionSettings, stdioOptionNames, type StdioConnectOptions } from './options.ts'
import { type ProcessView, type Supervisor, createSupervisor } from './supervisor.ts'

/** A connection to a server in a child process, which runs until the connection is closed. */
export interface StdioConnection extends Connection {
  /**
   * The server's name in errors: `stdio:` and the program's name, without its folder and arguments, which may contain
   * secrets.
   */
  readonly url: string
  /** The state of the current process. */
  readonly process: ProcessView
  /** Aborts with {@link close}, so that callers stop retrying. */
  readonly closed: AbortSignal
  /** Starts the process before the first call does. Rejects with a `StdioError`, as a call would. */
  start(): Promise<void>
  /**
   * Rejects pending calls with a `StdioError` `closed`, and ends the process with those that it has started. Closes its
   * stdin, then sends SIGTERM and SIGKILL, each after `graceMs`. Resolves when the process has ended.
   */
  close(): Promise<void>
}

/**
 * Runs a server in a child process and returns the connection to it (basic/transports/stdio). The first call starts the
 * process, and so does the next call after it has ended. Several clients may share the connection.
 *
 * A call rejects with {@link StdioError} when no response arrives. The program gets few of this process's variables.
 * See `env`.
 *
 * @example
 * await using connection = connectStdio({ command: 'node', args: ['server.js'] })
 * const client = createClient(connection, { name: 'host', version: '1.0.0' })
 */
export function connectStdio(options: StdioConnectOptions): StdioConnection {
  const supervisor = createSupervisor(options, resolveConnectionSettings(options, stdioOptionNames, 'connectStdio'))
  const exchange: Exchange = (request, call) => {
    const connection = supervisor.getConnection()
    return connection === undefined ? sendWhenOpen(supervisor, request, call) : connection.send(request, call)
  }
  const start = async (): Promise<void> => {
    await supervisor.open()
  }
  const closeController = new AbortController()
  const close = (): Promise<void> => {
    const reason = new StdioError('closed', 'The connection was closed here')
    closeController.abort(reason)
    return supervisor.close(reason)
  }
  const { signal: closedSignal } = closeController
  const url = `stdio:${basename(options.command)}`
  const { process } = supervisor
  return { exchange, url, process, closed: closedSignal, start, close, [Symbol.asyncDispose]: close }
}

async function sendWhenOpen(supervisor: Supervisor, request: RpcRequest, call: Call): Promise<RpcResponse> {
  if (isCancelled(call)) throw abortReasonOf(call)
  const connection = await raceWithCancellation(supervisor.open(), call)
  return connection.send(request, call)
}
