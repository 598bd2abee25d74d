import {
  type Clock,
  createLog,
  type Log,
  maxTimerMs,
  type OptionTable,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { Call, Connection, ConnectionPeer, ObservableState } from '@x/exchange'
import type { Implementation, RpcNotification, ServerCapabilities } from '@x/schema'
import type { createHttpClient } from '@x/transport-http/client'
import type { LegacyRevision } from '../translate/revisions.ts'

/** The server of a connection: of 2026-07-28, or of an older revision. */
export type ServerPeer = { readonly revision: '2026-07-28' } | LegacyServerPeer

/** A server of an older revision, as its handshake describes it. */
export interface LegacyServerPeer extends Extract<ConnectionPeer, { readonly namesCalls: boolean }> {
  readonly revision: LegacyRevision
  /**
   * True if a question of the server says which call it belongs to, as over HTTP. Over stdio no question does, so that
   * a process serves one user.
   */
  readonly namesCalls: boolean
  /** The name and version of the server's software, which are not verified. */
  readonly info: Pick<Implementation, 'name' | 'version'> | undefined
  readonly capabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/** The process of a server. */
export interface ProcessView {
  /** The id of the running process. Undefined if no process is running. */
  readonly pid: number | undefined
  /** The number of processes that were started to replace a process that had exited. */
  readonly restartCount: number
  /**
   * Ends the running process at once, as a crash would. Its calls reject, and the next call starts another process. It
   * counts as no failure. Does nothing if no process is running.
   */
  kill(): void
}

/** A connection to a server of 2026-07-28 or of an older revision. */
export interface AnyConnection extends Connection, ObservableState {
  readonly state: ObservableState['state']
  readonly onStateChange: ObservableState['onStateChange']
  /**
   * Sends requests of 2026-07-28 to a server of any revision. Several clients may share this function. An older server
   * serves one user on a connection: requests of another principal, session or client name are rejected.
   */
  readonly exchange: Connection['exchange']
  /** The name of the server in errors. */
  readonly url: string
  /** True if requests may belong to several principals, because `http.headers` is a function. */
  readonly canMixPrincipals: boolean
  /** Aborts when {@link close} is called, so that other code stops retrying. */
  readonly closed: AbortSignal
  /** The detected server. Undefined until a request has detected it. */
  readonly peer: ServerPeer | undefined
  /** Sends a notification. Rejects until a request has detected the revision of the server. */
  notify(notification: RpcNotification, call: Call): Promise<void>
  /** The process of a server that is a command. Undefined before the first request, and for a server at a URL. */
  readonly process: ProcessView | undefined
  /** Rejects the running calls, ends the sessions with an older server, and frees the resources of the connection. */
  close(): Promise<void>
}

/** A store of detected revisions, for example to keep them over restarts. Keys are URLs or command lines. */
export interface DetectedRevisions {
  /** Returns the revision that was stored for a key. */
  get(key: string): string | undefined
  set(key: string, revision: string): void
}

/** The options of `connectHttp` on this platform. */
export type HttpOptions = Omit<NonNullable<Parameters<typeof createHttpClient>[1]>, 'runtime'>

/** The options of `connectStdio` that are not in {@link CommandEntry}. */
export interface StdioOptions {
  /** A function that receives each line of stderr. `'inherit'` sends the lines to the stderr of this process. */
  readonly stderr?: 'inherit' | ((line: string) => void) | undefined
  /**
   * True to start the process in a separate process group. `false` starts it in the group of this process, and so at
   * the same terminal. Default: true.
   */
  readonly processGroup?: boolean | undefined
  /**
   * With `false`, a process that has ended is never started again. By default the next call starts it after a pause,
   * until it has ended five times in a row.
   */
  readonly restart?: false | undefined
  /** The time limit of each step of an orderly shutdown, in milliseconds. Default: 2,000. */
  readonly graceMs?: number | undefined
  /** Called after each exit of a process. */
  readonly onExit?: ((exit: ProcessEnd) => void) | undefined
  /**
   * Returns the streams to use instead of those of a new process, such as streams that record what passes. It is called
   * once for each process.
   */
  readonly wrapStreams?: WrapStreams | undefined
}

/** Node's `Readable` and `Writable`, without their types, so that programs for the web compile. */
export interface ProcessStreams {
  readonly input: object
  readonly output: object
}

/** As a method, so that a function whose parameter has the types of Node is one too. */
export type WrapStreams = { wrap(streams: ProcessStreams, pid: number | undefined): ProcessStreams }['wrap']

/** The exit of a process. */
export interface ProcessEnd {
  readonly pid: number | undefined
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** True if the connection has ended the process. */
  readonly expected: boolean
  /** The last lines that the process wrote to stderr, at most 2,000 characters. Empty if stderr is inherited. */
  readonly stderr: string
}

/** The options of {@link connectAny}. */
export interface ConnectAnyOptions {
  /**
   * The revision of the server, or `'older'` for any revision before 2026-07-28. `'probe'` detects the revision with
   * `server/discover` (basic/versioning). An older revision is the only one that `initialize` offers, as a host of that
   * revision does; a server that answers with another one is rejected. Default: `'probe'`.
   */
  readonly revision?: 'probe' | '2026-07-28' | 'older' | LegacyRevision | undefined
  /** The store of detected revisions. Default: they are kept until the connection is closed. */
  readonly detectedRevisions?: DetectedRevisions | undefined
  /**
   * Milliseconds that the client has to answer a question of the server. After that the call is cancelled. Default: 10
   * minutes.
   */
  readonly answerTimeoutMs?: number | undefined
  /**
   * The time limit of the probe, and of the handshake, in milliseconds. A process that answers neither is replaced by one
   * that is sent `initialize` first. Default: 30,000 for a URL, and 60,000 for a command, which may be downloaded first.
   */
  readonly handshakeTimeoutMs?: number | undefined
  /**
   * Milliseconds after which a new process that has not answered the probe is also sent `initialize`, as if it were an
   * older server. Default: 5,000.
   */
  readonly probeTimeoutMs?: number | undefined
  /**
   * A function that receives problems of the server. By default each is written as a line to the standard error.
   * Warnings have these codes. `task_required`: a tool was left out, because it only runs as a task of 2025-11-25.
   * `refused_request`: a request of the server belonged to no call. `no_subscription`: the server sends no
   * notifications of changes. `log_level`: the server did not accept the log level.
   */
  readonly log?: Log | undefined
  /** The options of the transport for a server at a URL. */
  readonly http?: HttpOptions | undefined
  /** The options of the transport for a server that is a command. */
  readonly stdio?: StdioOptions | undefined
  /** The clock, for tests. Default: the platform's. */
  readonly runtime?: Clock | undefined
}

const connectAnyOptionTable = {
  revision: 'probe',
  detectedRevisions: undefined,
  answerTimeoutMs: { default: 600_000, max: maxTimerMs },
  handshakeTimeoutMs: undefined,
  // limit: `probeTimeoutMs` of `connectAny` | ms | the answer of a new process to a request of 2026-07-28 |
  //   `initialize` is sent as well
  probeTimeoutMs: { default: 5000, max: maxTimerMs },
  log: undefined,
  http: undefined,
  stdio: undefined,
  runtime: { default: platformRuntime },
} satisfies OptionTable<ConnectAnyOptions>

type WarningCode = 'task_required' | 'refused_request' | 'no_subscription' | 'log_level'

/** {@link ConnectAnyOptions} with defaults. That of `handshakeTimeoutMs` depends on the kind of server. */
export type ResolvedConnectAnyOptions = ResolvedOptions<ConnectAnyOptions, typeof connectAnyOptionTable>

/** Fills in defaults. Throws for an unknown option, and for an invalid number of milliseconds. */
export function resolveConnectAnyOptions(options: ConnectAnyOptions): ResolvedConnectAnyOptions {
  return resolveOptions(options, connectAnyOptionTable, 'connectAny')
}

/** The options that the parts of a client for older servers share. */
export interface LegacySettings extends Pick<ResolvedConnectAnyOptions, 'answerTimeoutMs'> {
  readonly handshakeTimeoutMs: number
  readonly log: Log
  readonly warn: (code: WarningCode, message: string) => void
}

/** The limit for a handshake with a server at a URL. */
// limit: `handshakeTimeoutMs` of `connectAny`, at a URL | ms | the detection of the revision, and the handshake, at a
//   URL | the call is rejected
const defaultHandshakeTimeoutMs = 30_000

/** Returns the shared options. */
export function createSettings({
  answerTimeoutMs,
  handshakeTimeoutMs = defaultHandshakeTimeoutMs,
  ...options
}: Pick<ResolvedConnectAnyOptions, 'answerTimeoutMs' | 'handshakeTimeoutMs' | 'log'>): LegacySettings {
  const log = createLog(options.log, '@x/legacy')
  return { answerTimeoutMs, handshakeTimeoutMs, log, warn: (code, message) => log({ level: 'warn', code, message }) }
}
