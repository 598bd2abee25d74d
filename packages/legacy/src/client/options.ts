import { type ErrorListener, errorListener } from '@x/core'
import type { AsyncResource, Exchange, Implementation, ServerCapabilities } from '@x/schema'
import type { LegacyRevision } from '../revisions.ts'

/** The server at the other end of a connection, as far as it is known. */
export type DualPeer = { readonly era: 'modern' } | LegacyServerPeer

/** A server of an older revision, as it described itself in its handshake. */
export interface LegacyServerPeer {
  readonly era: 'legacy'
  readonly revision: LegacyRevision
  /** Its software, unverified. */
  readonly info: Pick<Implementation, 'name' | 'version'> | undefined
  readonly capabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/** A connection to a server of 2026-07-28 or of an older revision. */
export interface DualConnection extends AsyncResource {
  /** Sends requests of 2026-07-28 to a server of any revision. Any number of clients may share it. */
  readonly exchange: Exchange
  /** Name of the server in errors. */
  readonly url: string
  /** True when requests may be of several principals, because `headers` is a function. */
  readonly canMixPrincipals?: boolean | undefined
  /** Aborts with {@link close}, for code that would otherwise try again. */
  readonly closed: AbortSignal
  /** The server that was found, undefined before the first call, and until a call has succeeded in finding it. */
  readonly peer: DualPeer | undefined
  /** Rejects the calls that run, ends the session of an older server, and frees what the connection holds. */
  close(): Promise<void>
}

/** Remembers the revisions of servers, over restarts for example. Keys are URLs, or command lines. */
export interface DetectedRevisions {
  /** Returns the revision that was set for a key. */
  get(key: string): string | undefined
  set(key: string, revision: string): void
}

/** A problem of an older server that a user may want to know. */
export interface DualWarning {
  /**
   * `task_required`: a tool was left out, because it runs as a task of 2025-11-25 alone. `refused_request`: a request
   * of the server belonged to no call. `no_subscription`: it does not notify of changes. `log_level`: it did not take
   * the log level.
   */
  readonly code: 'task_required' | 'refused_request' | 'no_subscription' | 'log_level'
  readonly message: string
}

/** The options of every connection to servers of both kinds. */
export interface DualOptions {
  /**
   * The revisions that the server speaks. `'probe'`, the default, detects them with `server/discover` (basic/versioning).
   */
  readonly era?: 'probe' | 'modern' | 'legacy' | undefined
  /** Stores the detected revisions. Default: for as long as the connection lives. */
  readonly detectedRevisions?: DetectedRevisions | undefined
  /**
   * Time that this side has to answer a question of the server, in milliseconds. Then the question is refused. Default
   * 10 minutes.
   */
  readonly answerTimeoutMs?: number | undefined
  /** The longest that the probe and the handshake may take, in milliseconds. Default 30,000. */
  readonly handshakeTimeoutMs?: number | undefined
  /** Receives problems of the server. A line of `console.error` when absent, `false` for none. */
  readonly onWarning?: ErrorListener<[warning: DualWarning]>
}

/** The options that the parts of a client for older servers share. */
export interface LegacySettings {
  readonly answerTimeoutMs: number
  readonly handshakeTimeoutMs: number
  readonly warn: (warning: DualWarning) => void
}

/** Fills in what was not given. */
export function resolveDualSettings(options: DualOptions): LegacySettings {
  const { answerTimeoutMs = 600_000, handshakeTimeoutMs = 30_000 } = options
  return { answerTimeoutMs, handshakeTimeoutMs, warn: errorListener(options.onWarning, '@x/legacy') }
}
