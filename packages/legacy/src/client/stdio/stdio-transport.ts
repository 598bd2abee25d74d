import type { Clock, Log } from '@x/core'
import { createCall, type Exchange, type ProcessView } from '@x/exchange'
import { ConnectionStateSource } from '@x/exchange/internal'
import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'
import {
  connectStdio,
  isStdioError,
  type StartedProcess,
  type StdioConnection,
  type StdioConnectOptions,
  StdioError,
} from '@x/transport-stdio'
import { isLegacyError, LegacyError } from '../calls/legacy-error.ts'
import type { Port, ServerMessageHandlers } from '../calls/port.ts'
import { answerBeforeHandshake } from '../connection/handshake.ts'
import type { Conversation, Negotiate, Transport } from '../connection/transport.ts'
import type { StdioOptions } from '../options.ts'
import type { CommandEntry } from '../target.ts'

export interface StdioTransportOptions {
  readonly entry: CommandEntry
  readonly options: StdioOptions
  readonly clock: Clock
  readonly probeTimeoutMs: number
  /** Receives the server's violations of the protocol. */
  readonly log: Log
  /** Called when the process has ended. */
  readonly onEnd: () => void
}

/** Runs a server as a process, which the first `open` starts. After it has ended, the next `open` starts a new one. */
export class StdioTransport implements Transport {
  readonly #options: StdioTransportOptions
  readonly #states = new ConnectionStateSource()
  #connection: StdioConnection
  #port: StdioPort | undefined
  #conversation: Conversation | undefined
  /** The function of the latest `open`. It also runs with a process that a request has restarted. */
  #negotiate: Negotiate | undefined

  readonly process: NonNullable<Transport['process']>

  constructor(options: StdioTransportOptions) {
    this.#options = options
    this.#connection = this.#connect()
    const getProcess = (): ProcessView => this.#connection.process
    this.process = {
      get view() {
        return getProcess()
      },
      probeTimeoutMs: options.probeTimeoutMs,
      isExit: (error) => isStdioError(error) && mayBeProbeExit(error),
      replace: async () => {
        await this.#connection.close()
        this.#connection = this.#connect()
      },
    }
  }

  readonly exchange: Exchange = (request, call) => this.#connection.exchange(request, call)

  readonly onStateChange = this.#states.onStateChange

  hasOpenLogin(): boolean {
    return false
  }

  notify(notification: RpcNotification): Promise<void> {
    return this.#connection.notify(notification)
  }

  #connect(): StdioConnection {
    const { entry, clock, log, onEnd } = this.#options
    const { command, args, env, cwd } = entry
    const { wrapStreams, ...options } = this.#options.options
    const connection = connectStdio({
      // Checked at compile time, because `connectStdio` throws for unknown options.
      ...(options satisfies Pick<StdioConnectOptions, keyof StdioOptions>),
      // No types of Node in the option: programs for the web must compile, and have no processes.
      wrapStreams: wrapStreams as StdioConnectOptions['wrapStreams'],
      command,
      args,
      env,
      cwd,
      runtime: clock,
      log,
      onStart: (process) => this.#start(process),
      onNotification: (message: RpcNotification) => this.#port?.handlers?.onNotification(message),
      onRequest: async (request: RpcRequest) =>
        this.#port?.handlers?.onRequest(request) ?? answerBeforeHandshake(request),
      onExit: (exit) => {
        this.#port = undefined
        this.#conversation = undefined
        onEnd()
        return options.onExit?.(exit)
      },
    })
    connection.onStateChange((state) => {
      // When a connection was closed here, another process takes its place.
      if (!connection.closed.aborted) this.#states.set(state)
    })
    return connection
  }

  async #start(process: StartedProcess): Promise<void> {
    const port = new StdioPort(process)
    this.#port = port
    const conversation = await this.#negotiate?.(port)
    if (conversation?.revision === 'none') {
      const { error } = conversation
      throw new LegacyError('refused', error.error.message, error)
    }
    this.#conversation = conversation
  }

  async sessionKeyOf(): Promise<string> {
    return ''
  }

  async open({ id }: RpcRequest, negotiate: Negotiate): Promise<Conversation> {
    this.#negotiate = negotiate
    try {
      await this.#connection.start()
    } catch (error) {
      if (isLegacyError(error, 'refused') && error.response !== undefined)
        return { revision: 'none', error: error.response }
      throw error
    }
    if (this.#conversation !== undefined) return this.#conversation
    const message = `${this.#options.entry.command} ended right after its start`
    return { revision: 'none', error: { jsonrpc: '2.0', id, error: { code: -32_603, message } } }
  }

  createError(code: 'timeout' | 'closed', message: string): Error {
    const { command } = this.#options.entry
    return code === 'timeout'
      ? new StdioError('probe', `${command}: ${message}`)
      : new StdioError(code, message, { mayHaveRun: false })
  }

  isRefusal(): boolean {
    return false
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}

// A server that ends at an unknown first request says so in words of the protocol, or says nothing.
const protocolWords = /initialize|discover|method|request|json|protocol/i

/**
 * True if a process may have ended because of the probe. One that gives another reason has failed by itself, and would
 * fail again.
 */
function mayBeProbeExit({ code, stderr = '' }: StdioError): boolean {
  if (code !== 'exited' && code !== 'restarts') return false
  return stderr === '' || protocolWords.test(stderr)
}

/** A process as a port: its lifetime is one session (2025-11-25, basic/transports). */
class StdioPort implements Port {
  readonly #process: StartedProcess
  handlers: ServerMessageHandlers | undefined

  constructor(process: StartedProcess) {
    this.#process = process
  }

  send(request: RpcRequest, signal: AbortSignal, { onNotification }: ServerMessageHandlers): Promise<RpcResponse> {
    // basic/utilities/cancellation: the requests of a handshake are never cancelled at the server.
    if (this.handlers === undefined) return this.#process.exchange(request, createCall())
    // Over stdio, a server's request names no call. `onRequest` of the connection passes it to the session.
    return this.#process.exchange(request, createCall({ signal, notify: onNotification }))
  }

  async notify(message: RpcNotification): Promise<void> {
    this.#process.notify(message)
  }

  // No stream is needed for messages outside calls: the session receives them as long as the process runs.
  async listen(): Promise<{ readonly endPromise: Promise<void> }> {
    return { endPromise: new Promise(() => {}) }
  }

  async end(): Promise<void> {}

  begin(_revision: string, handlers: ServerMessageHandlers): void {
    this.handlers = handlers
  }
}
