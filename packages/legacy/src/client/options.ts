import {
  type Clock,
  createLog,
  type Log,
  maxTimerMs,
  objectWith,
  type OptionTable,
  optionTypes,
  platformRuntime,
  type ResolvedOptions,
} from '@x/core'
import type { Call, Connection, ConnectionPeer, ObservableState, ProcessExit, ProcessView } from '@x/exchange'
import type { Implementation, RpcNotification, ServerCapabilities } from '@x/schema'
import type { createHttpClient } from '@x/transport-http/client'
import type { LegacyRevision } from '../translate/revisions.ts'

/** The server at the other end of a connection: of 2026-07-28, or of an older revision. */
export type ServerPeer = { readonly revision: '2026-07-28' } | LegacyServerPeer

/** A server of an older revision, as its handshake describes it. */
export interface LegacyServerPeer extends Extract<ConnectionPeer, { readonly namesCalls: boolean }> {
  readonly revision: LegacyRevision
  /**
   * True if a question of the server says which call it belongs to, as over HTTP. Over stdio none does, so a process
   * serves one user.
   */
  readonly namesCalls: boolean
  /** Name and version of the server's software, unverified. */
  readonly info: Pick<Implementation, 'name' | 'version'> | undefined
  readonly capabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/** A connection to a server of 2026-07-28 or of an older revision. */
export interface AnyConnection extends Connection, ObservableState {
  readonly state: ObservableState['state']
  readonly onStateChange: ObservableState['onStateChange']
  /**
   * Sends requests of 2026-07-28 to a server of any revision. Several clients may share this function. But an older
   * server serves one user on a connection: requests of another principal, session or client name are rejected.
   */
  readonly exchange: Connection['exchange']
  /** Names the server in errors. */
  readonly url: string
  /** True if requests may belong to several principals, because `http.headers` is a function. */
  readonly canMixPrincipals: boolean
  /** Aborts when {@link close} is called, so that other code stops retrying. */
  readonly closed: AbortSignal
  /** Undefined until a request has detected the server. */
  readonly peer: ServerPeer | undefined
  /** Sends a notification. Rejects until a request has detected the server's revision. */
  notify(notification: RpcNotification, call: Call): Promise<void>
  /** For a server that is a command. Undefined before the first request, and for a server at a URL. */
  readonly process: ProcessView | undefined
  /** Rejects the running calls, ends the sessions with an older server, and frees the connection's resources. */
  close(): Promise<void>
}

/** Stores detected revisions, for example to keep them over restarts. Keys are URLs or command lines. */
export interface DetectedRevisions {
  /** The revision that was stored for a key. */
  get(key: string): string | undefined
  set(key: string, revision: string): void
}

/** What `connectHttp` accepts on this platform. */
export type HttpOptions = Omit<NonNullable<Parameters<typeof createHttpClient>[1]>, 'runtime'>

/** Options of `connectStdio` that are not in {@link CommandEntry}. */
export interface StdioOptions {
  /** Receives each line of stderr. `'inherit'` sends the lines to the stderr of this process. */
  readonly stderr?: 'inherit' | ((line: string) => void) | undefined
  /**
   * True to start the process in a process group of its own. `false` starts it in the group of this process, and so at
   * the same terminal. Default: true.
   */
  readonly processGroup?: boolean | undefined
  /**
   * With `false`, a process that has ended is never started again. By default the next call starts it after a pause,
   * until it has ended five times in a row.
   */
  readonly restart?: false | undefined
  /** Milliseconds that each step of an orderly shutdown may take. Default: 2,000. */
  readonly graceMs?: number | undefined
  /** Called after each exit of a process. */
  readonly onExit?: ((exit: ProcessExit) => void) | undefined
  /**
   * Replaces the streams of a new process, for example by ones that record what passes. Called once for each process.
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

export interface ConnectAnyOptions {
  /**
   * The server's revision, or `'older'` for any before 2026-07-28. `'probe'` detects it with `server/discover`
   * (basic/versioning). An older revision is the only one that `initialize` offers, as a host of that revision does; a
   * server that answers with another one is rejected. Default: `'probe'`.
   */
  readonly revision?: 'probe' | '2026-07-28' | 'older' | LegacyRevision | undefined
  /** Keeps detected revisions. Default: until the connection is closed. */
  readonly detectedRevisions?: DetectedRevisions | undefined
  /**
   * Milliseconds that the client has to answer a question of the server, before the call is cancelled. Default: 10
   * minutes.
   */
  readonly answerTimeoutMs?: number | undefined
  /**
   * Milliseconds for the probe, and for the handshake. A process that answers neither is replaced by one that is sent
   * `initialize` first. Default: 30,000 for a URL, and 60,000 for a command, which may be downloaded first.
   */
  readonly handshakeTimeoutMs?: number | undefined
  /**
   * Milliseconds after which a new process that has not answered the probe is also sent `initialize`, as if it were an
   * older server. Default: 5,000.
   */
  readonly probeTimeoutMs?: number | undefined
  /**
   * Receives problems of the server. By default each is written as a line to the standard error. Warnings have these
   * codes. `task_required`: a tool was left out, because it only runs as a task of 2025-11-25. `refused_request`: a
   * request of the server belonged to no call. `no_subscription`: the server sends no notifications of changes.
   * `log_level`: the server did not accept the log level.
   */
  readonly log?: Log | undefined
  /** For a server at a URL. */
  readonly http?: HttpOptions | undefined
  /** For a server that is a command. */
  readonly stdio?: StdioOptions | undefined
  /** For tests. Default: the platform's clock. */
  readonly runtime?: Clock | undefined
}

export const connectAnyOptionTable = {
  revision: 'probe',
  detectedRevisions: { type: objectWith(['get', 'set'], 'an object with get and set, such as a Map') },
  answerTimeoutMs: { default: 600_000, max: maxTimerMs },
  // Its default depends on the kind of server.
  handshakeTimeoutMs: undefined,
  // limit: `probeTimeoutMs` of `connectAny` | ms | the answer of a new process to a request of 2026-07-28 |
  //   `initialize` is sent as well
  probeTimeoutMs: { default: 5000, max: maxTimerMs },
  log: { type: optionTypes.function },
  http: { type: optionTypes.object },
  stdio: { type: optionTypes.object },
  runtime: { default: platformRuntime, type: optionTypes.object },
} satisfies OptionTable<ConnectAnyOptions>

type WarningCode = 'task_required' | 'refused_request' | 'no_subscription' | 'log_level'

/** {@link ConnectAnyOptions} with defaults. That of `handshakeTimeoutMs` depends on the kind of server. */
export type ResolvedConnectAnyOptions = ResolvedOptions<ConnectAnyOptions, typeof connectAnyOptionTable>

/** What the parts of a client for older servers share. */
export interface LegacySettings extends Pick<ResolvedConnectAnyOptions, 'answerTimeoutMs'> {
  readonly handshakeTimeoutMs: number
  readonly log: Log
  readonly warn: (code: WarningCode, message: string) => void
}

// limit: `handshakeTimeoutMs` of `connectAny`, at a URL | ms | the detection of the revision, and the handshake, at a
//   URL | the call is rejected
const defaultHandshakeTimeoutMs = 30_000

export function createSettings({
  answerTimeoutMs,
  handshakeTimeoutMs = defaultHandshakeTimeoutMs,
  ...options
}: Pick<ResolvedConnectAnyOptions, 'answerTimeoutMs' | 'handshakeTimeoutMs' | 'log'>): LegacySettings {
  const log = createLog(options.log, '@x/legacy')
  return { answerTimeoutMs, handshakeTimeoutMs, log, warn: (code, message) => log({ level: 'warn', code, message }) }
}
