import { type Ledger, type Log, quoteText } from '@x/core'
import type { Call, Exchange } from '../call/exchange.ts'
import type { Implementation, protocolVersions, RpcNotification } from '@x/schema'
import type { ProtocolAdapters } from '../transports/protocol-adapters.ts'
import type { ConnectionState } from './connection-state.ts'
import type { ServerEvent } from './server-event.ts'

/** A list whose changes clients can subscribe to. `resources` includes resource templates. */
export type ListKind = 'tools' | 'prompts' | 'resources'

/** How busy a server is. Its host (a transport, a gateway or a test) reads it. */
export interface ServerLoad {
  /** True if load balancers should send calls to this instance: it is neither draining nor overloaded. */
  readonly ready: boolean
  /** True after {@link Server.drain} has announced a stop. */
  readonly draining: boolean
  /** Handlers that run now. */
  readonly running: number
  /** Extensions and stores that could not be reached when {@link Server.ready} was last called. */
  readonly unavailable: readonly string[]
}

/** Withdraws a `drain()`, so that the server can continue on another port. A second call does nothing. */
export type Undrain = () => void

/** Options of {@link Server.drain}. */
export interface DrainOptions {
  /**
   * Keeps running calls on this instance, because load balancers may still choose it and would send a handed-off call
   * back to it. A second `drain` without this option hands the calls off. Default: false.
   */
  readonly keepCalls?: boolean | undefined
  /**
   * Milliseconds that the host gives running calls. This only times hand-offs: `drain` itself aborts nothing.
   * `serverOf` ignores it. Default: 5,000.
   */
  readonly graceMs?: number | undefined
}

/** Options of {@link Server.close}. */
export interface CloseOptions {
  /** Milliseconds in which running work can finish. Default: 5,000. */
  readonly graceMs?: number | undefined
}

/**
 * A server, as its host (a transport, a gateway or a test) uses it. `createServer` of `@x/server` makes one of
 * definitions, and `serverOf` of an exchange.
 */
export interface Server extends AsyncResource {
  /** Answers requests. Any number of connections and callers may share it. */
  readonly exchange: Exchange
  /** Name and version of the server. */
  readonly info: Implementation
  /** Load at this moment. */
  readonly load: ServerLoad
  /** Counts everything that the server, its transports and its extensions keep for a caller. */
  readonly ledger: Ledger
  /** For errors and warnings of the server, its transports and its extensions. Never throws. */
  readonly log: Log
  /** Passes an event of a transport to the extensions that observe. Undefined if none does. Never throws. */
  readonly emit: ((event: ServerEvent) => void) | undefined
  /** For other protocol revisions: a transport passes their requests to its adapter. */
  readonly adapters: ProtocolAdapters
  /**
   * Why only this machine may connect to the server. Transports then refuse to listen on addresses that others can
   * reach. Undefined if others may connect.
   */
  readonly localOnly: string | undefined
  /**
   * Why what the server seals opens in this process alone, and not after a restart or at another instance: it has no
   * key of its own. Transports log it when other machines can connect. Undefined if the server has a key.
   */
  readonly singleProcess: string | undefined
  /** True if calls need a principal. Transports then refuse to listen beyond loopback without `auth`. */
  readonly needsPrincipal: boolean
  /**
   * True if the server, and what it depends on, can serve calls now. The HTTP endpoint `/readyz` calls it. Never
   * rejects.
   */
  ready(): Promise<boolean>
  /** Notifies the subscribers of all instances that a list has changed. Rejects when the change bus fails. */
  notifyListChanged(kind: ListKind): Promise<void>
  /**
   * Notifies the subscribers of a resource, on all instances, that it has changed. Rejects when the change bus fails.
   */
  notifyResourceUpdated(uri: string): Promise<void>
  /** Passes a client's notification to the extensions that declare its method, or drops it. */
  receive(notification: RpcNotification, call: Call): void
  /**
   * Announces a stop. From now on `load.ready` is false, and each running call that another instance can continue is
   * handed off at its next step or checkpoint; one that was handed off several times before leaves later. A call with
   * almost ten hand-offs stays, because clients accept only a limited number of results that are not final. The
   * returned function withdraws the announcement.
   */
  drain(options?: DrainOptions): Undrain
  /**
   * Releases running tasks for other instances, ends subscriptions, and closes the extensions, including the engine of
   * tasks. A bus, a store or a pool that the program made stays open: use the option `close` of `createServer`. Running
   * calls are neither awaited nor aborted, because the transport does that. A second call returns the same promise.
   * Transports call `close` when they stop.
   */
  close(options?: CloseOptions): Promise<void>
  /**
   * Registers a host, such as a listening port or a pair of streams. The returned function releases it, and the server
   * closes with its last host.
   */
  attachHost(): (options?: CloseOptions) => Promise<void>
}

/** Throws a TypeError for what is no server, such as the definition of one. Programs without types pass it. */
export function checkServer(server: unknown, where: string): void {
  if (typeof server === 'object' && server !== null && 'exchange' in server && 'adapters' in server) return
  throw new TypeError(`${where} takes a server, as in ${where}(createServer({ name, version, tools }))`)
}

/** Counts a server's hosts. Releasing the last one closes the server. */
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

// TypeScript's lib `es2022` lacks `Symbol.asyncDispose`, which `await using` needs and Node 20 has. Declared as in lib
// `esnext.disposable`, so that both merge.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol
  }
}

/** Can be closed by `await using` at the end of its scope. */
export interface AsyncResource {
  [Symbol.asyncDispose](): Promise<void>
}

/** A connection to a server, over any transport. It keeps sockets or a process open until it is closed. */
export interface Connection extends AsyncResource {
  /** Sends requests. Any number of clients may share it. */
  readonly exchange: Exchange
  /** Names the server in error messages: its URL without the query, or its program. Absent if it has neither. */
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
   * State of the connection. If a call times out while a login is open, its error has the `reason` as cause. Absent for
   * a connection that does not say.
   */
  readonly state?: ConnectionState | undefined
  /** Calls `listener` after each change of `state`. The returned function removes it. */
  onStateChange?(listener: (state: ConnectionState) => void): () => void
  /** Aborts on {@link close}. Code that retries requests then stops. */
  readonly closed: AbortSignal
  /**
   * Sends a notification to the server, and rejects if it cannot be sent. Absent for a connection that can only send
   * requests.
   */
  notify?(notification: RpcNotification, call: Call): Promise<void>
  /** Rejects the pending requests, and releases the sockets or the process. */
  close(): Promise<void>
}

/**
 * The URL of a connection, if it identifies a server. That of a command is the name of its program, under which any
 * number of servers run.
 */
export function identifyingUrlOf({ url }: Pick<Connection, 'url'>): string | undefined {
  return url?.startsWith('stdio:') ? undefined : url
}

/** Says why a client does not resume what was serialized at another server. */
export function describeForeignTarget(kind: 'session' | 'task', serializedTarget: unknown, target: string): string {
  const advice = `if both are one server, serialize and resume its ${kind}s with the same \`target\` of ${kind}sClient()`
  return `The serialized ${kind} is one of ${quoteText(serializedTarget)}, and not of ${quoteText(target)}; ${advice}`
}

/**
 * The server of a connection, by its revision. `namesCalls` is true if each question of an older server says which call
 * it belongs to. Such a connection can serve several calls that ask at the same time.
 */
export type ConnectionPeer =
  | { readonly revision: '2026-07-28' }
  | { readonly revision: Exclude<(typeof protocolVersions)[number], '2026-07-28'>; readonly namesCalls: boolean }

/** As much of a connection as a client needs. One without `closed` and `close` has no resources and is never closed. */
export type ConnectionView = Pick<Connection, 'exchange' | 'url' | 'canMixPrincipals' | 'state'> &
  Partial<Pick<Connection, 'closed' | 'close' | 'peer'>>

/** Where a client sends its requests: a connection, a server in this process, or any exchange. */
export type ClientTarget = ConnectionView | Server | Exchange
