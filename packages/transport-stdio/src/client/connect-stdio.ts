import { basename } from 'node:path'
import {
  type Call,
  cancelReason,
  type Exchange,
  isCancelled,
  type RpcRequest,
  type RpcResponse,
  unlessCancelled,
} from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import { linkSettings, type StdioConnectOptions } from './options.ts'
import { type ProcessView, type Supervisor, supervise } from './supervise.ts'

/** An exchange with a server in a process of its own, which runs until the connection is closed. */
export interface StdioConnection extends Exchange, AsyncDisposable {
  /** How errors name the server: `stdio:` and the program's name, without its folder and arguments, which may hold secrets. */
  readonly url: string
  /** The process as it is now. */
  readonly process: ProcessView
  /** Aborts with {@link close}, for whoever would otherwise try again. */
  readonly closed: AbortSignal
  /** Starts the process before the first call does. Rejects with a `StdioError`, as a call would. */
  start(): Promise<void>
  /**
   * Rejects what is under way with a `StdioError` `closed`, and ends the process: closes its stdin, and after `graceMs` each
   * sends SIGTERM and SIGKILL. Resolves when it has ended.
   */
  close(): Promise<void>
}

/**
 * Runs a server as a process of its own: the exchange that a client uses (basic/transports/stdio). The first call starts it, and so
 * does the next call after it has ended. Several clients may share the connection.
 *
 * A call rejects with {@link StdioError} when no answer could be had. The program gets few of this process's variables; see `env`.
 *
 * @example
 * await using connection = connectStdio({ command: 'node', args: ['server.js'] })
 * const client = createClient(connection, { name: 'host', version: '1.0.0' })
 */
export function connectStdio(options: StdioConnectOptions): StdioConnection {
  const supervisor = supervise(options, linkSettings(options))
  const exchange: Exchange = (request, call) => {
    const link = supervisor.link()
    return link === undefined ? sendWhenOpen(supervisor, request, call) : link.send(request, call)
  }
  const start = async (): Promise<void> => {
    await supervisor.open()
  }
  const closing = new AbortController()
  const close = (): Promise<void> => {
    const reason = new StdioError('closed', 'The connection was closed here')
    closing.abort(reason)
    return supervisor.close(reason)
  }
  const { signal: closed } = closing
  const url = `stdio:${basename(options.command)}`
  const { process } = supervisor
  return Object.assign(exchange, { url, process, closed, start, close, [Symbol.asyncDispose]: close })
}

async function sendWhenOpen(supervisor: Supervisor, request: RpcRequest, call: Call): Promise<RpcResponse> {
  if (isCancelled(call)) throw cancelReason(call)
  const link = await unlessCancelled(supervisor.open(), call)
  return link.send(request, call)
}
