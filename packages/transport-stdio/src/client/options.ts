import {
  type Clock,
  createLog,
  errorRecord,
  type Log,
  type OptionTable,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { Exchange } from '@x/exchange'
import { defaultBounds, type ParseBounds, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { StreamPair } from '../close-streams.ts'
import type { StdioError } from '../stdio-error.ts'

/** Options of a connection over any streams. */
export interface ConnectionOptions {
  /**
   * Receives protocol violations of the server, each with a `StdioError` as `err`. Violations are lines that are not a
   * message, requests, and responses without a call. The connection skips them. By default they are written to standard
   * error.
   */
  readonly log?: Log | undefined
  /**
   * Receives each notification that names no request and belongs to no pending call. Those for calls that have ended
   * are dropped.
   */
  readonly onNotification?: ((message: RpcNotification) => void) | undefined
  /**
   * Answers requests of the server, which only servers of earlier revisions send. If it returns `undefined`, no
   * response is sent. By default such requests are logged as violations.
   */
  readonly onRequest?: ((request: RpcRequest) => Promise<RpcResponse | undefined>) | undefined
  /** The time limit in milliseconds for each step of closing the connection. Default: 2,000. */
  readonly graceMs?: number | undefined
  /** The clock. Default: the clock of the platform. */
  readonly runtime?: Clock | undefined
}

/** Options of {@link connectStreams}. */
export interface StreamConnectOptions extends ConnectionOptions {
  /** The stream from which the server's messages are read. */
  readonly input: Readable | Duplex
  /** The stream to which messages to the server are written. For a socket it is the same object as `input`. */
  readonly output: Writable | Duplex
}

/** A description of the exit of a process. */
export interface ProcessExit {
  readonly pid: number | undefined
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /**
   * True if the connection was closed with `close()` before the exit. False if this side ended the process for another
   * reason, such as a failed first request.
   */
  readonly expected: boolean
  /** The last lines that the process wrote to stderr, at most 2,000 characters. Empty if stderr is inherited. */
  readonly stderr: string
}

/** A process that has just started, as passed to `onStart`. */
export interface StartedProcess {
  /** Sends requests to this process. Rejects after the process has ended. */
  readonly exchange: Exchange
  /** Sends a notification. */
  notify(message: RpcNotification): void
}

/** Options of {@link connectStdio}. They run a program on this machine, so never accept them over a network. */
export interface StdioConnectOptions extends ConnectionOptions {
  /** The program: a path, or a name that is looked up in `PATH`. It is started without a shell. */
  readonly command: string
  /** The arguments of the program, passed unchanged. */
  readonly args?: readonly string[] | undefined
  /**
   * Environment variables for the process. They are added to the few variables that every process gets, or replace
   * them. `{ ...process.env }` passes all variables of this process.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The working directory of the process. Default: the working directory of this process. */
  readonly cwd?: string | URL | undefined
  /**
   * Starts the process as the leader of a new process group. Then `close()` also ends the processes that it has
   * started. SIGINT, SIGTERM and SIGHUP of this process are forwarded to the group, unless another part of this process
   * handles them. Default: true. With `false` the
   * process stays in the group of this process and can use its terminal, for programs such as `ssh` that ask for a
   * password. It has no effect on Windows.
   */
  readonly processGroup?: boolean | undefined
  /**
   * A function that receives the lines of stderr. `'inherit'` writes them to the stderr of this process. In any other
   * case errors contain the last lines.
   */
  readonly stderr?: 'inherit' | ((line: string) => void) | undefined
  /**
   * Called with each new process before any request is sent. Calls wait for its promise. If the promise rejects, the
   * calls reject with the same error, and the process is ended. By default the connection sends `server/discover`, and
   * waits up to a minute for the response.
   */
  readonly onStart?: ((process: StartedProcess, signal: AbortSignal) => Promise<void>) | undefined
  /**
   * With `false`, a process that has failed is not started again, and calls reject with `StdioError` `restarts`. The
   * same applies if the first process ends before it has answered anything. By default the next call starts a process
   * that has failed after a pause of 100 ms, doubled for each failure, until it has failed five times
   * in a row. A failure after 60 seconds counts as the first one. An exit with code 0 while no call is pending is no
   * failure: the next call starts the process again, also with `false`.
   */
  readonly restart?: false | undefined
  /** Called each time a process has exited. */
  readonly onExit?: ((exit: ProcessExit) => void) | undefined
  /**
   * Returns the streams to use instead of those of a new process, such as streams that record what passes. It is called
   * once for each process, before anything is written. The end of `output` must end the output of the process, and
   * `input` must end with the input. If it throws, the process is ended and the calls reject with the same error.
   */
  readonly wrapStreams?: ((streams: StreamPair, pid: number | undefined) => StreamPair) | undefined
}

/** The connection options, in which defaults replace missing values. */
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
 * The limit for the bytes of one line, which equals the limit of a client over HTTP. A longer line is reported and
 * skipped. If its id can be read, the call rejects.
 */
// limit: line of a server | bytes | a line from a server | the call is rejected
const maxLineBytes = 16 * 1024 * 1024

const connectionOptionTable = {
  log: undefined,
  onNotification: { default: discardNotification },
  onRequest: undefined,
  graceMs: { default: 2000, min: 0, isWhole: false },
  runtime: { default: platformRuntime },
} satisfies OptionTable<ConnectionOptions>

export const streamOptionTable = {
  ...connectionOptionTable,
  input: undefined,
  output: undefined,
} satisfies OptionTable<StreamConnectOptions>

export const stdioOptionTable = {
  ...connectionOptionTable,
  command: undefined,
  args: undefined,
  env: undefined,
  cwd: undefined,
  processGroup: undefined,
  stderr: undefined,
  onStart: undefined,
  restart: undefined,
  onExit: undefined,
  wrapStreams: undefined,
} satisfies OptionTable<StdioConnectOptions>

/** Rejects unknown options, and replaces missing values by defaults. `where` is the name of the function in errors. */
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

function discardNotification(): void {}
