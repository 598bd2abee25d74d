import type { Call, Exchange, ObservableState } from '@x/exchange'
import type { RpcError, RpcNotification, RpcRequest } from '@x/schema'
import type { Port } from '../calls/port.ts'
import type { LegacySession } from '../calls/session.ts'
import type { ProcessView } from '../options.ts'

/** The result of a negotiation: a server of 2026-07-28, a session with an older server, or an error of the server. */
export type Conversation =
  | { readonly revision: '2026-07-28' }
  | { readonly revision: 'older'; readonly session: LegacySession; readonly port: Port }
  | { readonly revision: 'none'; readonly error: RpcError }

/** Detects the revision of the server at a new port. Begins a session if the revision has sessions. */
export type Negotiate = (port: Port) => Promise<Conversation>

/** A transport to one server. `createConnection` uses it. */
export interface Transport {
  /** Sends requests to a server of 2026-07-28. */
  readonly exchange: Exchange
  /** Calls a function after each change of the state of the server. */
  readonly onStateChange: ObservableState['onStateChange']
  /** Returns true while a person logs in at the server. */
  hasOpenLogin(): boolean
  /** Sends a notification to a server of 2026-07-28. */
  notify(notification: RpcNotification, call: Call): Promise<void>
  /** The process of the server. Undefined if the connection does not run the server as a process. */
  readonly process?: ServerProcess | undefined
  /** Returns a key for the principal of a request. Requests with different keys do not share a session. */
  sessionKeyOf(request: RpcRequest): Promise<string>
  /** Opens a port and negotiates over it, on behalf of the client that has sent the request. */
  open(request: RpcRequest, negotiate: Negotiate): Promise<Conversation>
  createError(code: 'timeout' | 'closed', message: string): Error
  /**
   * Returns true if a server of one revision may reject a request of the other revision with this response or error.
   */
  isRefusal(outcome: unknown): boolean
  close(): Promise<void>
}

/** The process that a transport runs, and the functions that control it. */
export interface ServerProcess {
  readonly view: ProcessView
  /** Milliseconds after which a new process that has not answered the probe is also sent `initialize`. */
  readonly probeTimeoutMs: number
  /** Returns true if an error says that the process has ended. */
  isExit(error: unknown): boolean
  /** Ends the process. The next {@link Transport.open} starts a new process, without the pauses between restarts. */
  replace(): Promise<void>
}
