import type { Call, Exchange, ObservableState, ProcessView } from '@x/exchange'
import type { RpcError, RpcNotification, RpcRequest } from '@x/schema'
import type { Port } from '../calls/port.ts'
import type { LegacySession } from '../calls/session.ts'

/** The result of a negotiation: a server of 2026-07-28, a session with an older one, or an error of the server. */
export type Conversation =
  | { readonly revision: '2026-07-28' }
  | { readonly revision: 'older'; readonly session: LegacySession; readonly port: Port }
  | { readonly revision: 'none'; readonly error: RpcError }

/** Detects the server's revision at a new port, and begins a session if that revision has sessions. */
export type Negotiate = (port: Port) => Promise<Conversation>

/** What `createConnection` needs of a transport to one server. */
export interface Transport {
  /** For a server of 2026-07-28. */
  readonly exchange: Exchange
  /** Calls a function whenever the server's state has changed. */
  readonly onStateChange: ObservableState['onStateChange']
  /** True while a person logs in at the server. */
  hasOpenLogin(): boolean
  /** For a server of 2026-07-28. */
  notify(notification: RpcNotification, call: Call): Promise<void>
  /** Undefined if the connection does not run the server as a process. */
  readonly process?: ServerProcess | undefined
  /** A key for the request's principal. Requests with different keys do not share a session. */
  sessionKeyOf(request: RpcRequest): Promise<string>
  /** Opens a port and negotiates over it, on behalf of the client that has sent the request. */
  open(request: RpcRequest, negotiate: Negotiate): Promise<Conversation>
  /** For a call that was not sent. */
  createError(code: 'timeout' | 'closed', message: string): Error
  /** True if a server of one revision may reject a request of the other revision with this response or error. */
  isRefusal(outcome: unknown): boolean
  close(): Promise<void>
}

/** A transport's own process, and what controls it. */
export interface ServerProcess {
  readonly view: ProcessView
  /** Milliseconds after which a new process that has not answered the probe is also sent `initialize`. */
  readonly probeTimeoutMs: number
  /** True if an error says that the process has ended. */
  isExit(error: unknown): boolean
  /** Ends the process. The next {@link Transport.open} starts a new one, without the pauses between restarts. */
  replace(): Promise<void>
}
