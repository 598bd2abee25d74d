import {
  errorRecord,
  isLimitError,
  type Ledger,
  type Log,
  raceWithCancellation,
  type Runtime,
  startBackgroundTimer,
  withTimeout,
} from '@x/core'
import { type Call, callerKeyOf, type Connection, createCall, limitErrorToMcp, withContext } from '@x/exchange'
import {
  errorResponse,
  findMethodRow,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { callingClientKey } from '@x/exchange/internal'
import { createForwardedCall, forward, type ForwardContext } from './forward.ts'
import { AbandonableClient, type HostConnection } from './host-connection.ts'
import { canBeAsked, type HostIdentity, identityOf, requestMetaIn } from './host-identity.ts'
import { type CallerCredential, findAddressProblem, noCredential, type UpstreamOptions } from '../upstream/upstream.ts'
import { invalidStateError, isCredentialFailure, noAnswerError } from './upstream-error.ts'
import { WaitingCalls } from './waiting-calls.ts'

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
/**
 * Milliseconds that an upstream has to describe itself, before the first call, if the limit of a call is not shorter.
 */
const describeTimeoutMs = 30_000

/** The dependencies of {@link Connections}. */
export interface ConnectionsOptions {
  readonly upstream: UpstreamOptions
  /** True if each caller has credentials of its own, and so connections of its own. */
  readonly hasCredentials: boolean
  /** Milliseconds that the first answer may take, if it includes the login of a person. */
  readonly describeTimeoutMs?: number | undefined
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
  readonly #waitingCalls: WaitingCalls
  /** The connection of all hosts, to a server of revision 2026-07-28. */
  #shared: Connection | undefined
  #sharing: Sharing | undefined
  #isOlder = false
  #detection: Promise<RpcResponse | undefined> | undefined

  constructor(options: ConnectionsOptions) {
    this.#options = options
    const { ledger, runtime } = options
    const onEnd = (entry: HostConnection): void => {
      entry.isAsked = false
      this.#release(entry)
    }
    this.#waitingCalls = new WaitingCalls({ ledger, runtime, onEnd })
  }

  /** True if calls that wait for answers can only continue in this process, because the server is older. */
  get keepsCalls(): boolean {
    return this.#isOlder
  }

  /** Sends a request over a connection of its host. */
  async exchange(request: RpcRequest, call: Call, credential: CallerCredential = noCredential): Promise<RpcResponse> {
    const shared = this.#findShared()
    if (shared !== undefined) return this.#forward(shared, request, createForwardedCall(call))
    try {
      const identity = identityOf(request, call, credential)
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
   * Forwards a notification of a host. It names neither its client nor its session, so it is sent over the oldest
   * connection of the caller. A failure is logged, because a notification has no response.
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
    this.#waitingCalls.endAll()
    const connections = Array.from(this.#entries, (entry) => this.#drop(entry))
    await Promise.all([...connections, this.#shared?.close()])
  }

  /** Returns the connection of all hosts. Forgets it if the server has become one of an older revision. */
  #findShared(): Connection | undefined {
    const revision = this.#shared?.peer?.revision
    if (revision !== undefined && revision !== protocolVersion) this.#closeShared()
    return this.#shared
  }

  #closeShared(): void {
    if (this.#shared !== undefined) void this.#close(this.#shared)
    this.#shared = undefined
    this.#sharing = undefined
  }

  /**
   * Closes the process of an unreachable server, so that the next call starts another one. A connection over HTTP
   * stays, because each of its requests opens a socket if it needs one.
   */
  replaceProcess(): void {
    if (this.#shared !== undefined && !isHttp(this.#shared)) this.#closeShared()
    for (const entry of this.#entries) if (entry.uses === 0 && !isHttp(entry.connection)) void this.#drop(entry)
  }

  async #exchangeAlone(request: RpcRequest, call: Call, identity: HostIdentity): Promise<RpcResponse> {
    const requestState = request.params?.['requestState']
    const entry =
      requestState === undefined || !this.#isOlder
        ? this.#acquire(request, identity)
        : this.#waitingCalls.resume(requestState, identity.key)
    if (entry === undefined) return errorResponse(request.id, invalidStateError())
    const forwarded = withContext(createForwardedCall(call), callingClientKey, entry.client.client)
    let response: RpcResponse | undefined
    try {
      response = await this.#forward(entry.connection, request, forwarded)
      return response
    } finally {
      const state = this.#isOlder ? stateIn(response) : undefined
      if (state === undefined) this.#releaseCall(entry, request)
      else this.#waitingCalls.hold(state, entry)
    }
  }

  #forward(connection: Connection, request: RpcRequest, call: Call): Promise<RpcResponse> {
    return forward(connection.exchange, request, { call, context: this.#options.forwardContext })
  }

  /**
   * Determines how hosts may share connections. Calls that arrive in the meantime wait for the result. Resolves with
   * the error for all of them if the server cannot be reached. If a caller has no valid credential, the next one tries
   * with its own.
   */
  async #detect(request: RpcRequest, call: Call, identity: HostIdentity): Promise<RpcResponse | undefined> {
    for (;;) {
      if (this.#sharing !== undefined) return undefined
      const isOwn = this.#detection === undefined
      this.#detection ??= this.#describe(request, identity).finally(() => {
        this.#detection = undefined
      })
      const failure = await raceWithCancellation(this.#detection, call)
      if (isOwn || failure === undefined || !isCredentialFailure(failure)) return failure
    }
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
    const response = await this.#requestDescription(request, entry)
    const { peer } = connection
    if (peer?.revision === protocolVersion) return this.#share(entry)
    if (peer === undefined) {
      await this.#drop(entry)
      return response
    }
    this.#isOlder = true
    this.#sharing = peer.namesCalls ? 'caller' : 'call'
    this.#startIdle(entry)
    return undefined
  }

  async #requestDescription(request: RpcRequest, { connection, client }: HostConnection): Promise<RpcResponse> {
    const { runtime, forwardContext } = this.#options
    const timeoutMs = Math.min(this.#options.describeTimeoutMs ?? describeTimeoutMs, forwardContext.running.timeoutMs)
    const discover: RpcRequest = { ...request, method: 'server/discover', params: { _meta: requestMetaIn(request) } }
    const error = noAnswerError(forwardContext.name, timeoutMs)
    const limits = { timeoutMs, clock: runtime, createTimeoutError: () => error, signal: this.#closeController.signal }
    try {
      return await withTimeout(limits, (signal) =>
        this.#forward(connection, discover, withContext(createCall({ signal }), callingClientKey, client.client)),
      )
    } catch {
      forwardContext.availability?.fail()
      return errorResponse(request.id, error)
    }
  }

  #share(entry: HostConnection): undefined {
    this.#isOlder = false
    if (this.#options.hasCredentials) {
      this.#sharing = 'caller'
      this.#startIdle(entry)
      return undefined
    }
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
   * Reuses a connection that has only described the server to the same client. The handshake of an older host has no
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
      const connection = upstream.connect(identity.caller)
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

  async #drop(entry: HostConnection): Promise<void> {
    this.#entries.delete(entry)
    this.#options.runtime.clearTimeout(entry.idleTimer)
    entry.release()
    await this.#close(entry.connection)
  }

  async #close(connection: Connection): Promise<void> {
    const { log, forwardContext } = this.#options
    try {
      await connection.close()
    } catch (error) {
      log(errorRecord(error, { name: forwardContext.name }))
    }
  }
}

function stateIn(response: RpcResponse | undefined): string | undefined {
  if (response === undefined || 'error' in response) return undefined
  const { resultType, requestState } = response.result
  return resultType === 'input_required' && typeof requestState === 'string' ? requestState : undefined
}

function isHttp({ url }: Connection): boolean {
  return url !== undefined && URL.canParse(url) && /^https?:/.test(url)
}

function findConnectionProblem(connection: Connection): string | undefined {
  return isHttp(connection) ? findAddressProblem(new URL(connection.url ?? '')) : undefined
}
