import {
  type Clock,
  createLog,
  errorRecord,
  type Log,
  maxTimerMs,
  type OptionTable,
  type OptionType,
  optionTypes,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { Exchange, ProcessExit } from '@x/exchange'
import { defaultBounds, type ParseBounds, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { StreamPair } from '../close-streams.ts'
import type { StdioError } from '../stdio-error.ts'

/** Options of a connection over any streams. */
export interface ConnectionOptions {
  /**
   * Gets what the server does against the protocol, each with a `StdioError` as `err`: lines that are no message,
   * requests, and responses without a call. The connection skips them. Default: written to standard error.
   */
  readonly log?: Log | undefined
  /**
   * Receives each notification that names no request and belongs to no pending call. Those of calls that have ended are
   * dropped.
   */
  readonly onNotification?: ((message: RpcNotification) => void) | undefined
  /**
   * Answers requests of the server, which only servers of earlier revisions send. For `undefined`, no response is sent.
   * By default, such requests are logged as violations.
   */
  readonly onRequest?: ((request: RpcRequest) => Promise<RpcResponse | undefined>) | undefined
  /** Time limit in milliseconds for each step of closing. Default: 2,000. */
  readonly graceMs?: number | undefined
  /** Default: the platform's clock. */
  readonly runtime?: Clock | undefined
}

/** Options of {@link connectStreams}. */
export interface StreamConnectOptions extends ConnectionOptions {
  /** Messages of the server are read from here. */
  readonly input: Readable | Duplex
  /** Messages to the server go here. A socket is both this and `input`. */
  readonly output: Writable | Duplex
}

/** A process that has just started, as passed to `onStart`. */
export interface StartedProcess {
  /** Sends requests to this process alone. Rejects after it has ended. */
  readonly exchange: Exchange
  /** Sends a notification. */
  notify(message: RpcNotification): void
}

/** Options of {@link connectStdio}. They run a program on this machine, so never accept them over a network. */
export interface StdioConnectOptions extends ConnectionOptions {
  /** A path, or a name that is looked up in `PATH`. No shell is involved. */
  readonly command: string
  /** Passed to the program unchanged. */
  readonly args?: readonly string[] | undefined
  /**
   * Environment variables, on top of the few that every process gets. `{ ...process.env }` passes all that this process
   * has.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Working directory. Default: that of this process. */
  readonly cwd?: string | URL | undefined
  /**
   * Makes the process the leader of a process group, so that `close()` also ends what it has started. SIGINT, SIGTERM
   * and SIGHUP of this process are forwarded to the group, unless another part of this process handles them, and its
   * exit as SIGTERM. Default: true. With `false` the process stays in the group of this process and can use its
   * terminal; programs such as `ssh` need that to ask for a password. No effect on Windows.
   */
  readonly processGroup?: boolean | undefined
  /**
   * Receives the lines of stderr. `'inherit'` writes them to the stderr of this process; in any other case errors
   * contain the last ones.
   */
  readonly stderr?: 'inherit' | ((line: string) => void) | undefined
  /**
   * Called with each new process before any request is sent. Calls wait for its promise; if that rejects, they reject
   * with the same error, and the process is ended. Default: sends `server/discover`, and waits up to a minute for the
   * response.
   */
  readonly onStart?: ((process: StartedProcess, signal: AbortSignal) => Promise<void>) | undefined
  /**
   * With `false`, a process that failed is not started again, and calls reject with `StdioError` `restarts`; so they do
   * if the first process ends before it has answered anything. By default the next call restarts it after a pause of
   * 100 ms, which doubles with each failure, up to five in a row. A failure after 60 seconds counts as the first one.
   * Exiting with code 0 while no call is pending is no failure: the next call starts the process again, also with
   * `false`.
   */
  readonly restart?: false | undefined
  /** Called each time a process has exited. */
  readonly onExit?: ((exit: ProcessExit) => void) | undefined
  /**
   * Replaces the streams of a new process, for example by streams that record what passes. Called once for each
   * process, before anything is written. Ending `output` must end the output of the process, and `input` must end with
   * the input. If it throws, the process is ended and the calls reject with the same error.
   */
  readonly wrapStreams?: ((streams: StreamPair, pid: number | undefined) => StreamPair) | undefined
}

export interface ConnectionSettings
  extends Pick<
    ResolvedOptions<ConnectionOptions, typeof connectionOptionTable>,
    'graceMs' | 'onNotification' | 'onRequest'
  > {
  readonly maxLineBytes: number
  readonly bounds: ParseBounds
  readonly onError: (error: StdioError) => void
  readonly clock: Clock
}

/**
 * As much as a client reads over HTTP. A longer line is reported and skipped; if its id can be read, the call rejects.
 */
// limit: line of a server | bytes | a line from a server | the call is rejected
const maxLineBytes = 16 * 1024 * 1024

const connectionOptionTable = {
  log: { type: optionTypes.function },
  onNotification: { default: () => {}, type: optionTypes.function },
  onRequest: { type: optionTypes.function },
  graceMs: { default: 2000, min: 0, max: maxTimerMs, isWhole: false },
  runtime: { default: platformRuntime, type: optionTypes.object },
} satisfies OptionTable<ConnectionOptions>

export const streamOptionTable = {
  ...connectionOptionTable,
  input: undefined,
  output: undefined,
} satisfies OptionTable<StreamConnectOptions>

const stderrType: OptionType = {
  name: "'inherit' or a function",
  accepts: (value) => value === 'inherit' || typeof value === 'function',
}

export const stdioOptionTable = {
  ...connectionOptionTable,
  command: undefined,
  args: undefined,
  env: { type: optionTypes.object },
  cwd: undefined,
  processGroup: { type: optionTypes.boolean },
  stderr: { type: stderrType },
  onStart: { type: optionTypes.function },
  restart: { type: optionTypes.boolean },
  onExit: { type: optionTypes.function },
  wrapStreams: { type: optionTypes.function },
} satisfies OptionTable<StdioConnectOptions>

/** `where` names the function in errors. */
export function resolveConnectionSettings(
  options: ConnectionOptions,
  table: typeof connectionOptionTable,
  where: string,
): ConnectionSettings {
  const { graceMs, onNotification, onRequest, runtime: clock, ...given } = resolveOptions(options, table, where)
  const log = createLog(given.log, '@x/transport-stdio')
  return {
    maxLineBytes,
    bounds: { ...defaultBounds, bytes: maxLineBytes },
    onError: (error) => log(errorRecord(error, { method: 'stdio' })),
    onNotification,
    onRequest,
    graceMs,
    clock,
  }
}
