import { errorRecord, quoteText, requireSync, startBackgroundTimer } from '@x/core'
import type { Connection } from '@x/exchange'
import type { CallingClient } from '@x/exchange/internal'
import { findAddressProblem } from './address.ts'
import { type HostIdentity, servesHost } from './host-identity.ts'
import type { HopOptions, UpstreamCaller, UpstreamOptions } from './hop-options.ts'
import { closedError } from './upstream-error.ts'

// limit: idle connections | ms | an unused connection to an upstream | the connection is closed
const idleMs = 10 * 60_000

/** A connection with the host that it serves. */
export interface PooledConnection {
  readonly connection: Connection
  readonly client: AbandonableClient
  identity: HostIdentity
  /** Requests, streams and waiting calls that use the connection. */
  uses: number
  /** True while a call that may ask has the connection to itself. */
  isAsked: boolean
  /** True until a host has used the connection for more than a description of the server. */
  isFresh: boolean
  /** Time of the last use, in milliseconds. */
  usedAt: number
  idleTimer: unknown
  readonly release: () => void
}

/** The client that an older server sees. It ends calls whose host does not answer. */
class AbandonableClient {
  readonly #runs = new Map<string, (reason: unknown) => void>()

  readonly client: CallingClient = {
    onRoundAbandoned: (state, run) => {
      this.#runs.set(state, run)
      return () => this.#runs.delete(state)
    },
  }

  abandon(state: string): void {
    this.#runs.get(state)?.(new DOMException('The host did not answer', 'TimeoutError'))
  }
}

/**
 * Connections that serve one host each. An idle one is closed after a while, or for a new one if a bound is reached.
 */
export class ConnectionPool {
  readonly #connect: UpstreamOptions['connect']
  readonly #deps: HopOptions
  readonly #closeController = new AbortController()
  readonly #connections = new Set<PooledConnection>()
  /** End the reports of a connection: that it was closed here says nothing about the upstream. */
  readonly #unwatch = new WeakMap<Connection, () => void>()

  constructor({ connect }: UpstreamOptions, deps: HopOptions) {
    this.#connect = connect
    this.#deps = deps
  }

  /** Aborts when the pool closes. */
  get closed(): AbortSignal {
    return this.#closeController.signal
  }

  /** Finds the connection that a caller used last. */
  findOf(callerKey: string): Connection | undefined {
    const own = [...this.#connections].filter(
      ({ connection, identity }) => identity.callerKey === callerKey && !hasEnded(connection),
    )
    return own.toSorted((one, other) => other.usedAt - one.usedAt)[0]?.connection
  }

  /**
   * Finds or opens a host's connection. With `mayAsk`, no other call that may be asked uses it until its release: the
   * handshake decides whether a server may ask, not the request.
   */
  acquire(identity: HostIdentity, mayAsk: boolean): PooledConnection {
    const own = [...this.#connections].filter((pooled) => servesHost(pooled.identity, identity))
    const isUsable = ({ connection, isAsked }: PooledConnection): boolean =>
      !hasEnded(connection) && (!mayAsk || !isAsked)
    const pooled = own.find(isUsable) ?? this.#adoptFresh(identity) ?? this.open(identity)
    if (mayAsk) pooled.isAsked = pooled.identity.questions.length > 0
    pooled.uses += 1
    pooled.usedAt = this.#deps.runtime.monotonicNow()
    this.#stopIdle(pooled)
    return pooled
  }

  release(pooled: PooledConnection): void {
    pooled.uses -= 1
    if (pooled.uses > 0 || !this.#connections.has(pooled)) return
    pooled.usedAt = this.#deps.runtime.monotonicNow()
    if (hasEnded(pooled.connection)) void this.drop(pooled)
    else this.startIdle(pooled)
  }

  open(identity: HostIdentity): PooledConnection {
    this.closed.throwIfAborted()
    this.#makeRoom(identity.callerKey)
    const release = this.#deps.ledger.take('upstream_connections', identity.callerKey)
    try {
      const connection = this.#openConnection(identity.caller)
      const client = new AbandonableClient()
      const state = { uses: 0, isAsked: false, isFresh: true, usedAt: 0, idleTimer: undefined }
      const pooled: PooledConnection = { connection, client, identity, release, ...state }
      this.#connections.add(pooled)
      return pooled
    } catch (error) {
      release()
      throw error
    }
  }

  startIdle(pooled: PooledConnection): void {
    pooled.idleTimer = startBackgroundTimer(this.#deps.runtime, () => void this.drop(pooled), idleMs)
  }

  /** Takes a connection out of the pool, because all hosts share it. */
  remove(pooled: PooledConnection): void {
    this.#connections.delete(pooled)
    this.#stopIdle(pooled)
    pooled.release()
  }

  async drop(pooled: PooledConnection): Promise<void> {
    this.remove(pooled)
    await this.closeConnection(pooled.connection)
  }

  dropIdleProcesses(): void {
    for (const pooled of this.#connections)
      if (pooled.uses === 0 && isReplaceable(pooled.connection)) void this.drop(pooled)
  }

  async close(): Promise<void> {
    this.#closeController.abort(closedError(`The way to ${quoteText(this.#deps.name)}`))
    await Promise.all(Array.from(this.#connections, (pooled) => this.drop(pooled)))
  }

  /** Closes a connection. A failure is logged, because no call waits for it. */
  async closeConnection(connection: Connection): Promise<void> {
    const { log, name } = this.#deps
    this.#unwatch.get(connection)?.()
    try {
      await connection.close()
    } catch (error) {
      log(errorRecord(error, { name }))
    }
  }

  #openConnection(caller: UpstreamCaller): Connection {
    const connection = requireSync('connect', this.#connect(caller))
    const problem = isHttp(connection) ? findAddressProblem(new URL(connection.url ?? '')) : undefined
    if (problem === undefined) return this.#watch(connection)
    void this.closeConnection(connection)
    throw new TypeError(problem)
  }

  #watch(connection: Connection): Connection {
    const unwatch = connection.onStateChange?.((state) => this.#deps.onState?.(state))
    if (unwatch !== undefined) this.#unwatch.set(connection, unwatch)
    return connection
  }

  /**
   * Reuses a connection that has only described the server to the same client. An older host's handshake has no session
   * yet, and its first call has one.
   */
  #adoptFresh(identity: HostIdentity): PooledConnection | undefined {
    const fresh = [...this.#connections].find(
      (pooled) =>
        pooled.isFresh &&
        pooled.uses === 0 &&
        !hasEnded(pooled.connection) &&
        servesHost({ ...pooled.identity, key: identity.key }, identity) &&
        pooled.identity.client === identity.client,
    )
    if (fresh !== undefined) fresh.identity = { ...identity, questions: fresh.identity.questions }
    return fresh
  }

  /** If a bound is reached, closes the connection that has been idle for longest, of the caller or of all. */
  #makeRoom(callerKey: string): void {
    const { ledger } = this.#deps
    const { perCaller, total } = ledger.boundOf('upstream_connections')
    const isFull = ledger.usedInAll('upstream_connections') >= total
    if (!isFull && ledger.usedBy('upstream_connections', callerKey) < perCaller) return
    const [idle] = [...this.#connections]
      .filter(({ uses, identity }) => uses === 0 && (isFull || identity.callerKey === callerKey))
      .toSorted((one, other) => one.usedAt - other.usedAt)
    if (idle !== undefined) void this.drop(idle)
  }

  #stopIdle(pooled: PooledConnection): void {
    this.#deps.runtime.clearTimeout(pooled.idleTimer)
    pooled.idleTimer = undefined
  }
}

/** True for a connection on which no request succeeds any more: it was closed, or its process is not started again. */
export function hasEnded({ closed, state }: Connection): boolean {
  return closed.aborted || state?.status === 'closed'
}

/** True for a process that has not answered anything. Its connection waits for it, and then starts another one. */
export function isStarting(connection: Connection): boolean {
  const status = connection.state?.status
  return !isHttp(connection) && (status === 'connecting' || status === 'restarting')
}

/** True for a process that does not answer any more. One that starts would only start again. */
export function isReplaceable(connection: Connection): boolean {
  return !isHttp(connection) && !isStarting(connection)
}

/** True for a connection whose requests open a socket if they need one, and false for a process. */
export function isHttp({ url }: Connection): boolean {
  return url !== undefined && URL.canParse(url) && /^https?:/.test(url)
}
