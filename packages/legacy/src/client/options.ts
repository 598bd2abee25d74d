import { type Clock, createLog, type Log } from '@x/core'
import type { AsyncResource, Exchange, Implementation, ServerCapabilities } from '@x/schema'
import type { createHttpClient } from '@x/transport-http/client'
import type { LegacyRevision } from '../translate/revisions.ts'

/** The server at the other end of a connection, as far as it is known. */
export type ServerPeer = { readonly era: 'modern' } | LegacyServerPeer

/** A server of an older revision, as it described itself in its handshake. */
export interface LegacyServerPeer {
  readonly era: 'legacy'
  readonly revision: LegacyRevision
  /** Its software, unverified. */
  readonly info: Pick<Implementation, 'name' | 'version'> | undefined
  readonly capabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/** The process of a server. */
export interface ProcessView {
  /** The id of the running process. `undefined` when none runs. */
  readonly pid: number | undefined
  /** The number of processes started to replace one that exited. */
  readonly restartCount: number
}

/** A connection to a server of 2026-07-28 or of an older revision. */
export interface AnyConnection extends AsyncResource {
  /** Sends requests of 2026-07-28 to a server of any revision. Any number of clients may share it. */
  readonly exchange: Exchange
  /** Name of the server in errors. */
  readonly url: string
  /** True when requests may be of several principals, because `http.headers` is a function. */
  readonly canMixPrincipals: boolean
  /** Aborts with {@link close}, for code that would otherwise try again. */
  readonly closed: AbortSignal
  /** The detected server, undefined until a request has detected it. */
  readonly peer: ServerPeer | undefined
  /** The process of a server that is a command, from the first call on. */
  readonly process: ProcessView | undefined
  /** Rejects the calls that run, ends the sessions of an older server, and frees what the connection holds. */
  close(): Promise<void>
}

/** Remembers the revisions of servers, over restarts for example. Keys are URLs, or command lines. */
export interface DetectedRevisions {
  /** Returns the revision that was set for a key. */
  get(key: string): string | undefined
  set(key: string, revision: string): void
}

/** The options of `connectHttp` on this platform. */
export type HttpOptions = Omit<NonNullable<Parameters<typeof createHttpClient>[1]>, 'runtime'>

/** The options of `connectStdio` beside those of a {@link CommandEntry}. */
export interface StdioOptions {
  /** Receives the lines of stderr. `'inherit'` sends them to the stderr of this process. */
  readonly stderr?: 'inherit' | ((line: string) => void) | undefined
  /** `false` leaves the process in the process group of this one, and at its terminal. Default: true. */
  readonly processGroup?: boolean | undefined
  /** `false` never restarts a process that ended. */
  readonly restart?:
    | false
    | {
        /** The number of consecutive exits after which the process is not restarted. Default 5. */
        readonly limit?: number | undefined
        /**
         * Milliseconds before the start after the first exit. The pause doubles with each consecutive exit, up to
         * `maxPauseMs`. Default 100, and at most 10,000.
         */
        readonly pauseMs?: number | undefined
        readonly maxPauseMs?: number | undefined
        /** The run time in milliseconds after which a process counts as healthy. Default 60,000. */
        readonly healthyAfterMs?: number | undefined
      }
    | undefined
  /** The time limit of each step of an orderly shutdown, in milliseconds. Default: 2,000. */
  readonly graceMs?: number | undefined
  /** Called with each exit of a process. */
  readonly onExit?: ((exit: ProcessEnd) => void) | undefined
}

/** The exit of a process. */
export interface ProcessEnd {
  readonly pid: number | undefined
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** `true` when this side ended it. */
  readonly expected: boolean
  /** The last lines of its stderr, where they are not inherited. At most 2,000 characters. */
  readonly stderr: string
}

/** The options of {@link connectAny}. */
export interface ConnectAnyOptions {
  /**
   * The era of the server: `'modern'` for 2026-07-28, `'legacy'` for older revisions. `'probe'`, the default, detects
   * the era with `server/discover` (basic/versioning).
   */
  readonly era?: 'probe' | 'modern' | 'legacy' | undefined
  /** Stores the detected revisions. Default: for as long as the connection lives. */
  readonly detectedRevisions?: DetectedRevisions | undefined
  /**
   * Time that the client has to answer a question of the server, in milliseconds. Then the call is cancelled. Default
   * 10 minutes.
   */
  readonly answerTimeoutMs?: number | undefined
  /** The longest that the probe and the handshake may take each, in milliseconds. Default 30,000. */
  readonly handshakeTimeoutMs?: number | undefined
  /**
   * Time that a fresh process may be silent at the probe, in milliseconds, before it is sent `initialize` as an older
   * server. Default 5,000.
   */
  readonly probeTimeoutMs?: number | undefined
  /**
   * Receives problems of the server. By default each is a line of the standard error. Warnings have these codes.
   * `task_required`: a tool was left out, because it runs as a task of 2025-11-25 alone. `refused_request`: a request
   * of the server belonged to no call. `no_subscription`: the server does not notify of changes. `log_level`: the
   * server did not accept the log level.
   */
  readonly log?: Log | undefined
  /** The options of the transport for a server at a URL. */
  readonly http?: HttpOptions | undefined
  /** The options of the transport for a server that is a command. */
  readonly stdio?: StdioOptions | undefined
  /** Default: the platform's. */
  readonly runtime?: Clock | undefined
}

/** The options of {@link connectAny}, for the check of those that do not exist. */
export const connectAnyOptionNames = {
  era: true,
  detectedRevisions: true,
  answerTimeoutMs: true,
  handshakeTimeoutMs: true,
  probeTimeoutMs: true,
  log: true,
  http: true,
  stdio: true,
  runtime: true,
} as const satisfies Record<keyof ConnectAnyOptions, true>

type WarningCode = 'task_required' | 'refused_request' | 'no_subscription' | 'log_level'

/** The options that the parts of a client for older servers share. */
export interface LegacySettings {
  readonly answerTimeoutMs: number
  readonly handshakeTimeoutMs: number
  readonly log: Log
  readonly warn: (code: WarningCode, message: string) => void
}

/** Fills in what was not given. */
export function resolveSettings(options: ConnectAnyOptions): LegacySettings {
  const { answerTimeoutMs = 600_000, handshakeTimeoutMs = 30_000 } = options
  const log = createLog(options.log, '@x/legacy')
  return { answerTimeoutMs, handshakeTimeoutMs, log, warn: (code, message) => log({ level: 'warning', code, message }) }
}
