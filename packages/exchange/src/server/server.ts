import type { Ledger, Log } from '@x/core'
import type { Call, Exchange } from '../call/exchange.ts'
import type { Implementation, protocolVersions, RpcNotification } from '@x/schema'
import type { ProtocolAdapters } from '../transports/protocol-adapters.ts'
import type { ConnectionState } from './connection-state.ts'
import type { ServerEvent } from './server-event.ts'

/** A kind of list whose changes clients can subscribe to. `resources` includes resource templates. */
export type ListKind = 'tools' | 'prompts' | 'resources'

/** The load of a server. Its host (a transport, a gateway or a test) reads it. */
export interface ServerLoad {
  /** True if load balancers should send calls to this instance, because it is neither draining nor overloaded. */
  readonly ready: boolean
  /** True after {@link Server.drain} has announced a stop. */
  readonly draining: boolean
  /** The number of handlers that run now. */
  readonly running: number
  /** The names of extensions and stores that could not be reached when {@link Server.ready} was last called. */
  readonly unavailable: readonly string[]
}

/** Withdraws a `drain()`, so that the server can continue on another port. A second call does nothing. */
export type Undrain = () => void

/** Options of {@link Server.drain}. */
export interface DrainOptions {
  /**
   * True to keep running calls on this instance, because load balancers may still choose it and would send a handed-off
   * call back to it. A second `drain` without this option hands the calls off. Default: false.
   */
  readonly keepCalls?: boolean | undefined
  /**
   * Milliseconds that the host gives running calls. The value only times hand-offs: `drain` itself aborts nothing.
   * `serverOf` ignores it. Default: 5,000.
   */
  readonly graceMs?: number | undefined
}

/** Options of {@link Server.close}. */
export interface CloseOptions {
  /** The time in milliseconds in which running work can finish. Default: 5,000. */
  readonly graceMs?: number | undefined
}

/**
 * A server, as its host (a transport, a gateway or a test) uses it. `createServer` of `@x/server` creates one, and
 * `serverOf` creates one from an exchange.
 */
export interface Server extends AsyncResource {
  /** The function that answers requests. Any number of connections and callers may share it. */
  readonly exchange: Exchange
  /** The server's name and version. */
  readonly info: Implementation
  /** The load at this moment. */
  readonly load: ServerLoad
  /** The ledger, which counts everything that the server, its transports and its extensions keep for a caller. */
  readonly ledger: Ledger
  /** The log for the errors and warnings of the server, its transports and its extensions. It never throws. */
  readonly log: Log
  /** Passes an event of a transport to the extensions that observe. Undefined if none does. It never throws. */
  readonly emit: ((event: ServerEvent) => void) | undefined
  /** The adapters for other protocol revisions. A transport passes requests of these revisions to its adapter. */
  readonly adapters: ProtocolAdapters
  /**
   * The reason why only this machine may connect to the server. Transports then refuse to listen on addresses that
   * other machines can reach. Undefined if other machines may connect.
   */
  readonly localOnly: string | undefined
  /**
   * The reason why what the server seals opens in this process alone, and not after a restart or at another instance:
   * it has no key of its own. Transports log it when other machines can connect. Undefined if the server has a key.
   */
  readonly singleProcess: string | undefined
  /** True if calls need a principal. Transports then refuse to listen beyond loopback without `auth`. */
  readonly needsPrincipal: boolean
  /**
   * Resolves with true if the server and its dependencies can serve calls now. The HTTP endpoint `/readyz` calls it.
   * Never rejects.
   */
  ready(): Promise<boolean>
  /** Notifies the subscribers of all instances that a list has changed. Rejects when the change bus fails. */
  notifyListChanged(kind: ListKind): Promise<void>
  /**
   * Notifies the subscribers of a resource, on all instances, that the resource has changed. Rejects when the change
   * bus fails.
   */
  notifyResourceUpdated(uri: string): Promise<void>
  /** Passes a notification of a client to the extensions that declare its method. Drops any other notification. */
  receive(notification: RpcNotification, call: Call): void
  /**
   * Announces a stop. From now on `load.ready` is false. Each running call that another instance can continue is handed
   * off at its next step or checkpoint. A call that was handed off several times before leaves later. A call with
   * almost ten hand-offs stays, because clients accept only a limited number of results that are not final. The
   * returned function withdraws the announcement.
   */
  drain(options?: DrainOptions): Undrain
  /**
   * Releases running tasks for other instances, ends subscriptions, and closes the extensions, including the engine of
   * tasks. Does not close a bus, a store or a pool that the program made: use the option `close` of `createServer`.
   * Does not wait for running calls or abort them, because the transport does that. A second call returns the same
   * promise. Transports call `close` when they stop.
   */
  close(options?: CloseOptions): Promise<void>
  /**
   * Registers a host, such as a listening port or a pair of streams. The returned function releases the host. The
   * server closes when its last host is released.
   */
  attachHost(): (options?: CloseOptions) => Promise<void>
}

/** Throws a TypeError for a value that is no server, such as the definition of one. Programs without types pass them. */
export function checkServer(server: unknown, where: string): void {
  if (typeof server === 'object' && server !== null && 'exchange' in server && 'adapters' in server) return
  throw new TypeError(`${where} takes a server, as in ${where}(createServer({ name, version, tools }))`)
}

/** Creates the `attachHost` of a server, which counts the hosts. The release of the last host closes the server. */
export function createAttachHost(close: (options?: CloseOptions) => Promise<void>): Server['attachHost'] {
  let hostCount = 0
  return () => {
    hostCount += 1
    let isAttached = true
    return async (options) => {
      if (!isAttached) return
      isAttached = false
      hostCount -= 1
      if (hostCount === 0) await close(options)
    }
  }
}

// TypeScript's lib `es2022` lacks `Symbol.asyncDispose`, which `await using` needs and which Node 20 has. The
// declaration is the same as in lib `esnext.disposable`, so that both merge.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol
  }
}

/** A resource that `await using` closes at the end of its scope. */
export interface AsyncResource {
  [Symbol.asyncDispose](): Promise<void>
}

/** A connection to a server, over any transport. It keeps sockets or a process open until it is closed. */
export interface Connection extends AsyncResource {
  /** The function that sends requests. Any number of clients may share it. */
  readonly exchange: Exchange
  /**
   * The name of the server in error messages: its URL without the query, or its program. Absent if the server has
   * neither.
   */
  readonly url?: string | undefined
  /**
   * True if requests may come from several principals, for example because `headers` of the connection is a function. A
   * client then caches results only in a partition that the program names. Absent means one principal.
   */
  readonly canMixPrincipals?: boolean | undefined
  /**
   * The server at the other end. Undefined until a request has detected its revision. Absent for a connection that can
   * only reach servers of revision 2026-07-28.
   */
  readonly peer?: ConnectionPeer | undefined
  /**
   * The state of the connection. The error of a call that times out while a login is open has the `reason` as its cause.
   * Absent for a connection that does not say.
   */
  readonly state?: ConnectionState | undefined
  /** Calls a function after each change of `state`. Returns a function that removes it. */
  onStateChange?(listener: (state: ConnectionState) => void): () => void
  /** A signal that {@link close} aborts. Code that retries requests then stops. */
  readonly closed: AbortSignal
  /**
   * Sends a notification to the server. Resolves when the notification was sent, and rejects if it cannot be sent.
   * Absent for a connection that can only send requests.
   */
  notify?(notification: RpcNotification, call: Call): Promise<void>
  /** Rejects the pending requests, and releases the sockets or the process. */
  close(): Promise<void>
}

/**
 * The server of a connection, by its revision. `namesCalls` is true if each question of an older server says which call
 * it belongs to. Such a connection can serve several calls that ask at the same time.
 */
export type ConnectionPeer =
  | { readonly revision: '2026-07-28' }
  | { readonly revision: Exclude<(typeof protocolVersions)[number], '2026-07-28'>; readonly namesCalls: boolean }

/**
 * The part of a connection that a client needs. A connection without `closed` and `close` has no resources and is never
 * closed.
 */
export type ConnectionView = Pick<Connection, 'exchange' | 'url' | 'canMixPrincipals' | 'state'> &
  Partial<Pick<Connection, 'closed' | 'close' | 'peer'>>

/** The target of a client's requests: a connection, a server in this process, or any exchange. */
export type ClientTarget = ConnectionView | Server | Exchange
