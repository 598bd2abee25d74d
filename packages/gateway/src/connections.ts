import {
  errorRecord,
  isLimitError,
  type Ledger,
  type Log,
  raceWithCancellation,
  type Runtime,
  startBackgroundTimer,
} from '@x/core'
import {
  type Call,
  callerKeyOf,
  type Connection,
  createCall,
  errorResponse,
  findMethodRow,
  limitErrorToMcp,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  withContext,
} from '@x/schema'
import { type CallingClient, callingClientKey } from '@x/schema/internal'
import { createForwardedCall, forward, type ForwardContext } from './forward.ts'
import { canBeAsked, type HostIdentity, identityOf, requestMetaIn } from './host-identity.ts'
import { findAddressProblem, type UpstreamOptions } from './upstream.ts'
import { invalidStateError, noAnswerError } from './upstream-error.ts'

/**
 * The hosts that share a connection to the upstream.
 *
 * - `all`: a server of revision 2026-07-28. Each request says everything about its host.
 * - `caller`: an older server over HTTP. It has one handshake on a connection, so each host has its own.
 * - `call`: an older server over stdio. Its questions do not say which call they belong to, so a call that may ask also
 *   has its connection alone until its last round.
 */
type Sharing = 'all' | 'caller' | 'call'

/** Milliseconds after which a connection that is not used is closed. */
const idleMs = 10 * 60_000
/** Milliseconds that a host has to answer a question. `connectAny` has the same limit. */
const answerTimeoutMs = 10 * 60_000
/** Milliseconds that an upstream has to describe itself, before the first call. */
const discoverTimeoutMs = 30_000

/** A connection to an older server, with the host that it serves. */
interface HostConnection {
  readonly connection: Connection
  readonly client: AbandonableClient
  identity: HostIdentity
  /** The requests, streams and waiting calls that use the connection. */
  uses: number
  /** True while a call that may ask has the connection alone. */
  isAsked: boolean
  /** True until a host has used the connection for more than a description of the server. */
  isFresh: boolean
  /** The time of the last use, in milliseconds. */
  usedAt: number
  idleTimer: unknown
  readonly release: () => void
}

/** A call that waits for the answers of its host, with its connection. */
interface WaitingCall {
  readonly entry: HostConnection
  readonly timer: unknown
  readonly release: () => void
}

/** The dependencies of {@link Connections}. */
export interface ConnectionsOptions {
  readonly upstream: UpstreamOptions
  readonly forwardContext: ForwardContext
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly log: Log
}

/** The connections of a proxy to its upstream. An older server never serves two hosts on one connection. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #closeController = new AbortController()
  readonly #entries = new Set<HostConnection>()
  readonly #waitingCalls = new Map<string, WaitingCall>()
  /** The connection of all hosts, to a server of revision 2026-07-28. */
  #shared: Connection | undefined
  #sharing: Sharing | undefined
  #detection: Promise<RpcResponse | undefined> | undefined

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  /** Sends a request over a connection of its host. */
  async exchange(request: RpcRequest, call: Call): Promise<RpcResponse> {
    const shared = this.#findShared()
    if (shared !== undefined) return this.#forward(shared, request, createForwardedCall(call))
    try {
      const identity = identityOf(request, call)
      const failure = this.#sharing === undefined ? await this.#detect(request, call, identity) : undefined
      if (failure !== undefined) return { ...failure, id: request.id }
      const detected = this.#findShared()
      if (detected !== undefined) return await this.#forward(detected, request, createForwardedCall(call))
      return await this.#exchangeAlone(request, call, identity)
    } catch (error) {
      if (!isLimitError(error)) throw error
      return errorResponse(request.id, limitErrorToMcp(error))
    }
  }

  /**
   * Passes a notification of a host on. It names neither its client nor its session, so it goes to the oldest
   * connection of the caller. A failure is logged, because a notification has no answer.
   */
  notify(notification: RpcNotification, call: Call): void {
    const callerKey = callerKeyOf(call)
    const own = [...this.#entries].find(({ identity }) => identity.callerKey === callerKey)
    const connection = this.#findShared() ?? own?.connection
    const { log, forwardContext } = this.#options
    connection
      ?.notify?.(notification, createForwardedCall(call))
      .catch((error: unknown) => log(errorRecord(error, { method: notification.method, name: forwardContext.name })))
  }

  /** Closes all connections. Running calls end with an error. */
  async close(): Promise<void> {
    this.#closeController.abort(new Error('The proxy was closed'))
    for (const state of this.#waitingCalls.keys()) this.#endWaitingCall(state)
    const connections = Array.from(this.#entries, (entry) => this.#drop(entry))
    await Promise.all([...connections, this.#shared?.close()])
  }

  /** Returns the connection of all hosts. Forgets it if the server has become one of an older revision. */
  #findShared(): Connection | undefined {
    if (this.#shared?.peer?.era !== 'legacy') return this.#shared
    void this.#close(this.#shared)
    this.#shared = undefined
    this.#sharing = undefined
    return undefined
  }

  async #exchangeAlone(request: RpcRequest, call: Call, identity: HostIdentity): Promise<RpcResponse> {
    const requestState = request.params?.['requestState']
    const entry = requestState === undefined ? this.#acquire(request, identity) : this.#resume(requestState, identity)
    if (entry === undefined) return errorResponse(request.id, invalidStateError())
    const forwarded = withContext(createForwardedCall(call), callingClientKey, entry.client.client)
    let response: RpcResponse | undefined
    try {
      response = await this.#forward(entry.connection, request, forwarded)
      return response
    } finally {
      const state = stateIn(response)
      if (state === undefined) this.#releaseCall(entry, request)
      else this.#hold(state, entry)
    }
  }

  #forward(connection: Connection, request: RpcRequest, call: Call): Promise<RpcResponse> {
    return forward(connection.exchange, request, { call, context: this.#options.forwardContext })
  }

  /**
   * Finds out how hosts may share connections. Calls that arrive meanwhile wait for it. Resolves with the error for all
   * of them if the server cannot be reached.
   */
  #detect(request: RpcRequest, call: Call, identity: HostIdentity): Promise<RpcResponse | undefined> {
    this.#detection ??= this.#describe(request, identity).finally(() => {
      this.#detection = undefined
    })
    return raceWithCancellation(this.#detection, call)
  }

  async #describe(request: RpcRequest, identity: HostIdentity): Promise<RpcResponse | undefined> {
    const { name, log } = this.#options.forwardContext
    let entry: HostConnection
    try {
      entry = this.#open(identity)
    } catch (error) {
      if (isLimitError(error)) throw error
      log(errorRecord(error, { method: 'server/discover', name }))
      return errorResponse(request.id, noAnswerError(name))
    }
    const { connection } = entry
    if (!('peer' in connection)) return this.#share(entry)
    const signal = AbortSignal.any([AbortSignal.timeout(discoverTimeoutMs), this.#closeController.signal])
    const call = withContext(createCall({ signal }), callingClientKey, entry.client.client)
    const discover: RpcRequest = { ...request, method: 'server/discover', params: { _meta: requestMetaIn(request) } }
    const response = await this.#forward(connection, discover, call).catch(() =>
      errorResponse(request.id, noAnswerError(name)),
    )
    const { peer } = connection
    if (peer?.era === 'modern') return this.#share(entry)
    if (peer === undefined) {
      await this.#drop(entry)
      return response
    }
    this.#sharing = peer.namesCalls ? 'caller' : 'call'
    this.#startIdle(entry)
    return undefined
  }

  #share(entry: HostConnection): undefined {
    this.#entries.delete(entry)
    entry.release()
    this.#shared = entry.connection
    this.#sharing = 'all'
    return undefined
  }

  #acquire(request: RpcRequest, identity: HostIdentity): HostConnection {
    const isAsking = this.#mayAsk(request)
    const isUsable = (entry: HostConnection): boolean => !isAsking || !entry.isAsked
    const own = [...this.#entries].filter(({ identity: { key } }) => key === identity.key)
    const entry = own.find(isUsable) ?? this.#adoptFresh(identity) ?? this.#open(identity)
    if (request.method !== 'server/discover') entry.isFresh = false
    if (isAsking) entry.isAsked = true
    this.#use(entry)
    return entry
  }

  #mayAsk(request: RpcRequest): boolean {
    return findMethodRow(request.method)?.canRequireInput === true && this.#sharing === 'call' && canBeAsked(request)
  }

  /**
   * Takes over a connection that has only described the server to the same client. The handshake of an older host has no
   * session yet, and its first call has one.
   */
  #adoptFresh(identity: HostIdentity): HostConnection | undefined {
    for (const entry of this.#entries) {
      if (!entry.isFresh || entry.uses > 0 || entry.identity.client !== identity.client) continue
      entry.identity = identity
      return entry
    }
    return undefined
  }

  #open(identity: HostIdentity): HostConnection {
    this.#closeController.signal.throwIfAborted()
    const { ledger, upstream } = this.#options
    this.#makeRoom(identity.callerKey)
    const release = ledger.take('upstream_connections', identity.callerKey)
    try {
      const connection = upstream.connect()
      const problem = findConnectionProblem(connection)
      if (problem !== undefined) {
        void this.#close(connection)
        throw new TypeError(problem)
      }
      const client = new AbandonableClient()
      const state = { uses: 0, isAsked: false, isFresh: true, usedAt: 0, idleTimer: undefined }
      const entry: HostConnection = { connection, client, identity, release, ...state }
      this.#entries.add(entry)
      return entry
    } catch (error) {
      release()
      throw error
    }
  }

  /** Closes the connection that has been idle for longest, of the caller or of all, if a bound is reached. */
  #makeRoom(callerKey: string): void {
    const { ledger } = this.#options
    const { perCaller, total } = ledger.boundOf('upstream_connections')
    const isFull = ledger.usedInAll('upstream_connections') >= total
    if (!isFull && ledger.usedBy('upstream_connections', callerKey) < perCaller) return
    const [idle] = [...this.#entries]
      .filter(({ uses, identity }) => uses === 0 && (isFull || identity.callerKey === callerKey))
      .toSorted((one, other) => one.usedAt - other.usedAt)
    if (idle !== undefined) void this.#drop(idle)
  }

  #use(entry: HostConnection): void {
    entry.uses += 1
    this.#options.runtime.clearTimeout(entry.idleTimer)
    entry.idleTimer = undefined
  }

  #releaseCall(entry: HostConnection, request: RpcRequest): void {
    if (this.#mayAsk(request)) entry.isAsked = false
    this.#release(entry)
  }

  #release(entry: HostConnection): void {
    entry.uses -= 1
    if (entry.uses > 0 || !this.#entries.has(entry)) return
    entry.usedAt = this.#options.runtime.monotonicNow()
    if (entry.connection.closed.aborted) void this.#drop(entry)
    else this.#startIdle(entry)
  }

  #startIdle(entry: HostConnection): void {
    entry.idleTimer = startBackgroundTimer(this.#options.runtime, () => void this.#drop(entry), idleMs)
  }

  /** Keeps the connection of a call until its host sends the answers. */
  #hold(state: string, entry: HostConnection): void {
    const { ledger, runtime } = this.#options
    const timer = startBackgroundTimer(runtime, () => this.#endWaitingCall(state), answerTimeoutMs)
    this.#waitingCalls.set(state, { entry, timer, release: () => {} })
    try {
      const release = ledger.take('waiting_calls', entry.identity.callerKey)
      this.#waitingCalls.set(state, { entry, timer, release })
    } catch (error) {
      this.#endWaitingCall(state)
      throw error
    }
  }

  /** Returns the connection of a waiting call. Undefined for a state that is unknown or belongs to another host. */
  #resume(state: unknown, identity: HostIdentity): HostConnection | undefined {
    const waiting = typeof state === 'string' ? this.#waitingCalls.get(state) : undefined
    if (waiting === undefined || waiting.entry.identity.key !== identity.key) return undefined
    this.#forgetWaitingCall(String(state), waiting)
    return waiting.entry
  }

  #forgetWaitingCall(state: string, { timer, release }: WaitingCall): void {
    this.#options.runtime.clearTimeout(timer)
    this.#waitingCalls.delete(state)
    release()
  }

  /** Ends a call whose host does not answer. The server is notified of the cancellation. */
  #endWaitingCall(state: string): void {
    const waiting = this.#waitingCalls.get(state)
    if (waiting === undefined) return
    this.#forgetWaitingCall(state, waiting)
    waiting.entry.client.abandon(state)
    waiting.entry.isAsked = false
    this.#release(waiting.entry)
  }

  async #drop(entry: HostConnection): Promise<void> {
    this.#entries.delete(entry)
    this.#options.runtime.clearTimeout(entry.idleTimer)
    entry.release()
    await this.#close(entry.connection)
  }

  async #close(connection: Connection): Promise<void> {
    const { log, forwardContext } = this.#options
    await connection.close().catch((error: unknown) => log(errorRecord(error, { name: forwardContext.name })))
  }
}

function stateIn(response: RpcResponse | undefined): string | undefined {
  if (response === undefined || 'error' in response) return undefined
  const { resultType, requestState } = response.result
  return resultType === 'input_required' && typeof requestState === 'string' ? requestState : undefined
}

function findConnectionProblem({ url }: Connection): string | undefined {
  return url !== undefined && URL.canParse(url) && /^https?:/.test(url) ? findAddressProblem(new URL(url)) : undefined
}

/** The hop as the client of an older server. It lets go of calls whose host does not answer. */
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
