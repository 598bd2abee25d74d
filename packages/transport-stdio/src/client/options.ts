import { checkOptions, type Clock, createLog, errorRecord, type KnownOptions, type Log, platformRuntime } from '@x/core'
import {
  defaultBounds,
  type Exchange,
  type ParseBounds,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { StdioError } from '../stdio-error.ts'

/** Options of a connection over any streams. */
export interface ConnectionOptions {
  /**
   * Receives protocol violations of the server, each with a `StdioError` as its `err`: lines that are not a message,
   * requests, and responses without a call. They are skipped. Default: lines of the standard error.
   */
  readonly log?: Log | undefined
  /** Receives notifications that belong to no pending call, or to one of several that cannot be distinguished. */
  readonly onNotification?: ((message: RpcNotification) => void) | undefined
  /**
   * Answers requests of the server, which only servers of earlier revisions send. `undefined` leaves one without an
   * answer. By default they are logged as violations.
   */
  readonly onRequest?: ((request: RpcRequest) => Promise<RpcResponse | undefined>) | undefined
  /** The time limit of each step of an orderly shutdown, in milliseconds. Default: 2,000. */
  readonly graceMs?: number | undefined
  /** The clock. Default: that of the platform. */
  readonly runtime?: Clock | undefined
}

/** Options of {@link connectStreams}. */
export interface StreamConnectOptions extends ConnectionOptions {
  /** The stream of the server's messages. */
  readonly input: Readable | Duplex
  /** The stream of messages to the server. Equal to `input` for a socket. */
  readonly output: Writable | Duplex
}

/** Options for restarting a process that ended. */
export interface RestartOptions {
  /** The number of consecutive exits after which the process is not restarted. Default 5. */
  readonly limit?: number | undefined
  /** The delay after the first exit in milliseconds, doubled after each consecutive one. Default 100. */
  readonly pauseMs?: number | undefined
  /** The longest delay in milliseconds. Default 10,000. */
  readonly maxPauseMs?: number | undefined
  /**
   * The run time in milliseconds after which a process counts as healthy and the exit count starts again. Default
   * 60,000.
   */
  readonly healthyAfterMs?: number | undefined
}

/** The exit of a process. */
export interface ProcessExit {
  readonly pid: number | undefined
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** `true` when this side ended it. */
  readonly expected: boolean
  /** The last lines of its stderr, where they are not inherited. At most 2,000 characters. */
  readonly stderr: string
}

/** A process that was just started, as `onStart` sees it. */
export interface StartedProcess {
  /** Sends requests to this process. Rejects when it has ended. */
  readonly exchange: Exchange
  /** Sends a notification. */
  notify(message: RpcNotification): void
}

/** Options of {@link connectStdio}. They run a program on this machine: never take them from a network. */
export interface StdioConnectOptions extends ConnectionOptions {
  /** The program: a path, or a name that is looked up in `PATH`. No shell reads it. */
  readonly command: string
  /** Its arguments, passed unchanged. */
  readonly args?: readonly string[] | undefined
  /** Variables added to the few that every process gets, or replacing them. `{ ...process.env }` passes on all. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The working directory of the process. Default: this process's own. */
  readonly cwd?: string | URL | undefined
  /**
   * Starts the process as the leader of a process group, so that `close()` ends what it has started as well, and
   * forwards SIGINT, SIGTERM and SIGHUP of this process to it. Default: true. `false` leaves the process in this one's
   * group and at its terminal, for programs that ask there for a password, such as `ssh`. Without effect on Windows.
   */
  readonly processGroup?: boolean | undefined
  /**
   * Receives the lines of stderr. `'inherit'` sends them to this process's own stderr. By default errors include the
   * last lines.
   */
  readonly stderr?: 'inherit' | ((line: string) => void) | undefined
  /**
   * Sends `server/discover` to a new process before any other request, with a limit of `timeoutMs` (30,000 by default).
   * On by default.
   */
  readonly probe?: false | { readonly timeoutMs?: number | undefined } | undefined
  /**
   * Called with every fresh process before any request is sent, in place of the probe. A call waits for it. What it
   * rejects with, the call rejects with, and the process is ended.
   */
  readonly onStart?: ((process: StartedProcess, signal: AbortSignal) => Promise<void>) | undefined
  /** `false` never restarts a process that ended. */
  readonly restart?: false | RestartOptions | undefined
  /** Called with each exit of a process. */
  readonly onExit?: ((exit: ProcessExit) => void) | undefined
}

/** The connection options with defaults. */
export interface ConnectionSettings {
  readonly maxLineBytes: number
  readonly bounds: ParseBounds
  readonly onError: (error: StdioError) => void
  readonly onNotification: (message: RpcNotification) => void
  readonly onRequest: ConnectionOptions['onRequest']
  readonly graceMs: number
  readonly clock: Clock
}

const defaults = { graceMs: 2000 } satisfies ConnectionOptions

/**
 * Bytes of one line, as many as a client over HTTP takes. A longer line is reported and skipped, and its call fails if
 * its id can be read.
 */
const maxLineBytes = 16 * 1024 * 1024

const connectionOptionNames = {
  log: true,
  onNotification: true,
  onRequest: true,
  graceMs: true,
  runtime: true,
} as const satisfies Record<keyof ConnectionOptions, true>

/** The options of {@link connectStreams}. */
export const streamOptionNames = {
  ...connectionOptionNames,
  input: true,
  output: true,
} as const satisfies Record<keyof StreamConnectOptions, true>

/** The options of {@link connectStdio}. */
export const stdioOptionNames = {
  ...connectionOptionNames,
  command: true,
  args: true,
  env: true,
  cwd: true,
  processGroup: true,
  stderr: true,
  probe: true,
  onStart: true,
  restart: true,
  onExit: true,
} as const satisfies Record<keyof StdioConnectOptions, true>

/** Rejects options that do not exist, and fills in defaults. `where` is the function that has the options. */
export function resolveConnectionSettings(
  options: ConnectionOptions,
  optionNames: KnownOptions,
  where: string,
): ConnectionSettings {
  checkOptions(options, optionNames, where)
  const { graceMs = defaults.graceMs, runtime: clock = platformRuntime } = options
  const log = createLog(options.log, '@x/transport-stdio')
  return {
    maxLineBytes,
    bounds: { ...defaultBounds, bytes: maxLineBytes },
    onError: (error) => log(errorRecord(error, { method: 'stdio' })),
    onNotification: options.onNotification ?? discardNotification,
    onRequest: options.onRequest,
    graceMs,
    clock,
  }
}

function discardNotification(): void {}
