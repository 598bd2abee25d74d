import type { Exchange } from '../basic/exchange.ts'
import type { AsyncResource } from './disposable.ts'
import type { Server } from './server.ts'

/** A connection to a server, over any transport. It holds sockets or a process until it is closed. */
export interface Connection extends AsyncResource {
  /** Sends requests; any number of clients may share it. */
  readonly exchange: Exchange
  /** The name of the server in errors: its endpoint without a query, or its program. Absent where there is none. */
  readonly url?: string | undefined
  /**
   * True when requests may be of several principals, as those of a connection whose `headers` is a function. A client over
   * it caches only in a partition that its user names. Absent: one principal.
   */
  readonly mixedPrincipals?: boolean | undefined
  /** Aborts with {@link close}, for code that would otherwise try again. */
  readonly closed: AbortSignal
  /** Rejects what is under way, and frees what the connection holds. */
  close(): Promise<void>
}

/** The part of a connection that a client needs; what is absent never ends and holds nothing. */
export type ConnectionView = Pick<Connection, 'exchange' | 'url' | 'mixedPrincipals'> &
  Partial<Pick<Connection, 'closed' | 'close'>>

/** The other side of a client: a connection, a server in this process, or any exchange. */
export type ClientTarget = ConnectionView | Server | Exchange

/** Returns the exchange of a target. */
export function exchangeOf(target: ClientTarget): Exchange {
  return typeof target === 'function' ? target : target.exchange
}
