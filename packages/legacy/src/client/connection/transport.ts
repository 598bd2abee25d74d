import type { Exchange, RpcError, RpcRequest } from '@x/schema'
import type { Port } from '../calls/port.ts'
import type { LegacySession } from '../calls/session.ts'
import type { ProcessView } from '../options.ts'

/** The result of a negotiation: a server of 2026-07-28, a session with an older server, or an error of the server. */
export type Conversation =
  | { readonly era: 'modern' }
  | { readonly era: 'legacy'; readonly session: LegacySession; readonly port: Port }
  | { readonly era: 'none'; readonly error: RpcError }

/** Finds the revision of the server behind a new port, and begins a session where the revision has sessions. */
export type Negotiate = (port: Port) => Promise<Conversation>

/** A transport to one server. The state machine of a connection uses it. */
export interface Transport {
  /** Sends requests to a server of 2026-07-28. */
  readonly exchange: Exchange
  /** Present where the server is a process of this connection. */
  readonly process?: ServerProcess | undefined
  /** Returns a key of the principal that a request is of. Principals do not share a session. */
  sessionKeyOf(request: RpcRequest): Promise<string>
  /** Opens a port and negotiates over it, for the client of this request. */
  open(request: RpcRequest, negotiate: Negotiate): Promise<Conversation>
  createError(code: 'timeout' | 'closed', message: string): Error
  /** Returns true for a response or an error with which a server of one era may refuse a request of the other era. */
  isRefusal(outcome: unknown): boolean
  close(): Promise<void>
}

/** Control of the process that a transport runs. */
export interface ServerProcess {
  readonly view: ProcessView
  /** Time that a new process may be silent at the probe, in milliseconds. Then it is sent `initialize` as well. */
  readonly probeTimeoutMs: number
  /** Returns true for an error that says that the process has ended. */
  isExit(error: unknown): boolean
  /** Ends the process. The next {@link Transport.open} starts another, without the pauses between restarts. */
  replace(): Promise<void>
}

/** A response to the probe that does not show the era of the server. It becomes the response to the call. */
export class UndecidedError extends Error {
  override readonly name = 'UndecidedError'
  readonly response: RpcError

  constructor(response: RpcError) {
    super(response.error.message)
    this.response = response
  }
}
