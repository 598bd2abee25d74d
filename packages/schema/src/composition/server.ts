import { createLedger, createLog, type Ledger, type Log } from '@x/core'
import type { Call, Exchange } from '../basic/exchange.ts'
import type { Implementation } from '../basic/implementation.ts'
import type { RpcNotification, RpcResponse } from '../basic/rpc.ts'
import { protocolVersion } from '../basic/revision.ts'
import type { ProtocolAdapters } from '../transports/protocol-adapters.ts'

/** A list of which clients are notified when it changes. Templates change with the resources. */
export type ListKind = 'tools' | 'prompts' | 'resources'

/** A server's load, as its host needs it. */
export interface ServerLoad {
  /** True when balancers should send calls here: neither draining nor overloaded. */
  readonly ready: boolean
  /** True after a stop was announced. */
  readonly draining: boolean
  /** Handlers that run now. */
  readonly running: number
  /** Names of extensions and stores that could not be reached when {@link Server.ready} was last called. */
  readonly unavailable: readonly string[]
}

/** Withdraws a `drain()`, for a server that continues on another port. A second call does nothing. */
export type Undrain = () => void

/** Options of announcing a stop. */
export interface DrainOptions {
  /**
   * True while balancers may still choose this instance: running calls stay, because a call that is handed off now may
   * come back here. A second `drain` hands them off. Default: false.
   */
  readonly keepCalls?: boolean | undefined
  /** Milliseconds until calls that still run are aborted. Default: 5,000. */
  readonly graceMs?: number | undefined
}

/** Options of closing a server. */
export interface CloseOptions {
  /** Milliseconds that running work has to finish. Default: 5,000. */
  readonly graceMs?: number | undefined
}

/**
 * A server, as its host (a transport, a gateway, a test) needs it. Transports take this and nothing else.
 * `createServer` of `@x/server` makes one, and {@link serverOf} makes one of an exchange.
 */
export interface Server extends AsyncResource {
  /** Answers requests. Any number of connections and callers may share it. */
  readonly exchange: Exchange
  /** The server's name and version. */
  readonly info: Implementation
  /** The load at this moment. */
  readonly load: ServerLoad
  /** Counts everything that the server, its transports and its extensions keep for a caller. */
  readonly ledger: Ledger
  /** Receives the errors and warnings of the server, its transports and its extensions. Never throws. */
  readonly log: Log
  /** Protocol revisions beside this one, which the transports hand over to their adapters. */
  readonly adapters: ProtocolAdapters
  /**
   * The reason why only this machine may reach the server, undefined where others may. Transports refuse other
   * addresses then.
   */
  readonly localOnly: string | undefined
  /** True when calls need a principal. Transports then refuse to listen beyond loopback without `auth`. */
  readonly needsPrincipal: boolean
  /** Resolves with true when the server and its dependencies can serve calls now. `/readyz` calls it. Never rejects. */
  ready(): Promise<boolean>
  /** Notifies subscribers, at every instance, that a list has changed. Rejects when the change bus fails. */
  notifyListChanged(kind: ListKind): Promise<void>
  /** Notifies subscribers of a resource, at every instance, that it has changed. Rejects when the change bus fails. */
  notifyResourceUpdated(uri: string): Promise<void>
  /** Takes a notification of a client, for the extensions that declare its method. Others are dropped. */
  receive(notification: RpcNotification, call: Call): void
  /**
   * Announces a stop: `load.ready` is false from now on, and calls that can be handed off leave at their next step or
   * checkpoint. A call that was handed off several times leaves later, and one near ten hand-offs stays, because
   * clients accept few results that are not final. Returns the function that withdraws the announcement.
   */
  drain(options?: DrainOptions): Undrain
  /**
   * Ends what the server opened: running tasks are released for other instances, subscriptions end, engines, buses and
   * pools close. A second call returns the same promise. Transports call it when they stop.
   */
  close(options?: CloseOptions): Promise<void>
  /**
   * Registers one more host (a listening port, a pair of streams). The returned function releases it. The last release
   * closes the server.
   */
  attachHost(): (options?: CloseOptions) => Promise<void>
}

/** The parts of a server that an exchange does not have. */
export interface ServerParts {
  readonly info: Implementation
  /**
   * The reason why only this machine may reach it, or undefined. Required, so that no wrapped server loses it
   * unnoticed.
   */
  readonly localOnly: string | undefined
  readonly needsPrincipal?: boolean | undefined
  /** Default: lines of the standard error. */
  readonly log?: Log | undefined
}

/**
 * Makes a server of an exchange, for tests and proxies: always ready, without adapters, with nothing to close.
 *
 * @example
 * await serveHttp(serverOf(connectHttp(url).exchange, { info, localOnly: undefined }))
 */
export function serverOf(exchange: Exchange, { info, localOnly, needsPrincipal = false, log }: ServerParts): Server {
  const close = (): Promise<void> => Promise.resolve()
  return {
    exchange: announceOwnRevision(exchange),
    info,
    load: { ready: true, draining: false, running: 0, unavailable: [] },
    ledger: createLedger(),
    log: createLog(log, '@x/schema'),
    adapters: {},
    localOnly,
    needsPrincipal,
    ready: () => Promise.resolve(true),
    notifyListChanged: close,
    notifyResourceUpdated: close,
    receive: () => {},
    drain: () => () => {},
    close,
    attachHost: () => close,
    [Symbol.asyncDispose]: close,
  }
}

/** Announces 2026-07-28 alone: the exchange may lead to a server that serves other revisions too. */
function announceOwnRevision(exchange: Exchange): Exchange {
  return (request, call) =>
    request.method === 'server/discover' ? exchange(request, call).then(withOwnRevision) : exchange(request, call)
}

function withOwnRevision(response: RpcResponse): RpcResponse {
  if ('error' in response || response.result['supportedVersions'] === undefined) return response
  return { ...response, result: { ...response.result, supportedVersions: [protocolVersion] } }
}

/** Counts the hosts of a server: the last one that is released closes it. */
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

// TypeScript's lib `es2022` lacks these two, which the language itself (`await using`) and Node 20 have. The
// declarations are the ones of lib `esnext.disposable`, with which they merge.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol
  }
}

/** A resource that `await using` closes at the end of its scope. */
export interface AsyncResource {
  [Symbol.asyncDispose](): Promise<void>
}

/** A connection to a server, over any transport. It holds sockets or a process until it is closed. */
export interface Connection extends AsyncResource {
  /** Sends requests. Any number of clients may share it. */
  readonly exchange: Exchange
  /** The name of the server in errors: its endpoint without a query, or its program. Absent where there is none. */
  readonly url?: string | undefined
  /**
   * True when requests may be of several principals, as those of a connection whose `headers` is a function. A client
   * over it caches only in a partition that its user names. Absent: one principal.
   */
  readonly canMixPrincipals?: boolean | undefined
  /** Aborts on {@link close}, so that code stops its retries. */
  readonly closed: AbortSignal
  /** Rejects the pending requests, and releases the sockets or the process. */
  close(): Promise<void>
}

/** The part of a connection that a client needs. Without `closed` and `close` it stays open and holds no resources. */
export type ConnectionView = Pick<Connection, 'exchange' | 'url' | 'canMixPrincipals'> &
  Partial<Pick<Connection, 'closed' | 'close'>>

/** The other side of a client: a connection, a server in this process, or any exchange. */
export type ClientTarget = ConnectionView | Server | Exchange

/** Returns the exchange of a target. */
export function exchangeOf(target: ClientTarget): Exchange {
  return typeof target === 'function' ? target : target.exchange
}
