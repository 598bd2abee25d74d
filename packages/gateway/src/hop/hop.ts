import { errorRecord, isLimitError, openAbortScope, raceWithCancellation, settlesWithin } from '@x/core'
import {
  type Call,
  callerKeyOf,
  type Connection,
  createCall,
  type Exchange,
  limitErrorToMcp,
  type Server,
  withContext,
} from '@x/exchange'
import {
  errorResponse,
  findMethodRow,
  isMcpError,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { type CallingClient, callingClientKey, hopObserverKey } from '@x/exchange/internal'
import { type HostIdentity, identityOf, identityMetaIn } from './host-identity.ts'
import { ConnectionPool, hasEnded, isHttp, isReplaceable, isStarting, type PooledConnection } from './pool.ts'
import { createProbe, isOfExtension, probeCall, serverHop } from './server-hop.ts'
import { type CallerCredential, type Hop, type HopOptions, noCredential, type UpstreamOptions } from './hop-options.ts'
import { createForwardedCall, reportConnectError, RequestSender } from './send-request.ts'
import { ConnectionForAll } from './connection-for-all.ts'
import { isOfOneCaller, noAnswerError, notStartedError } from './upstream-error.ts'
import { rejectLostRetry, WaitingCalls } from './waiting-calls.ts'

/**
 * Which hosts share a connection to the upstream.
 *
 * - `all`: a server of revision 2026-07-28. Each request says everything about its host.
 * - `caller`: an older server over HTTP. It has one handshake on a connection, so each host has its own.
 * - `call`: an older server over stdio. Its questions do not say which call they belong to, so a call that may ask also
 *   has its connection alone until its last round.
 */
type Sharing = 'all' | 'caller' | 'call'

/** This time applies before the first call, and if the limit of a call is not shorter. */
// limit: first answer | ms | the description of an upstream | `-32603`
const describeTimeoutMs = 30_000
/** Added for a user who logs in or a process that starts: `oauth` and `connectAny` wait less. */
const openTimeoutMs = 11 * 60_000

/** Milliseconds that a request waits for a process that starts. A host gives a call about a minute. */
// limit: start | ms | a call of an upstream whose process starts | `-32603`. The process is kept
const startWaitMs = 20_000

export function createHop(upstream: Server | UpstreamOptions, options: HopOptions): Hop {
  return 'exchange' in upstream ? serverHop(upstream, options) : new ConnectedHop(upstream, options)
}

/** Lets the telemetry of the host's request record what is exchanged with an upstream. */
export function observeHop(upstream: string, send: Exchange, { context }: Call): Exchange {
  return context.get(hopObserverKey)?.observe(upstream)(send) ?? send
}

/** Leads to an upstream outside of this process, whose revision decides which hosts share a connection. */
export class ConnectedHop implements Hop {
  readonly #options: HopOptions
  readonly #sender: RequestSender
  readonly #pool: ConnectionPool
  readonly #waitingCalls: WaitingCalls<PooledConnection>
  readonly #shared: ConnectionForAll
  #sharing: Sharing | undefined
  #isOlder = false
  #detection: Promise<RpcResponse | undefined> | undefined
  #detecting: Connection | undefined
  #probing: Promise<unknown> | undefined

  constructor(upstream: UpstreamOptions, options: HopOptions) {
    this.#options = options
    this.#sender = new RequestSender(options)
    this.#pool = new ConnectionPool(upstream, options)
    this.#shared = new ConnectionForAll(this.#sender, (connection) => this.#pool.closeConnection(connection))
    this.#waitingCalls = new WaitingCalls(options, (pooled, state) => {
      pooled.client.abandon(state)
      pooled.isAsked = false
      this.#pool.release(pooled)
    })
  }

  get keepsCalls(): boolean {
    return this.#isOlder
  }

  get isStarting(): boolean {
    const connection = this.#detecting ?? this.#shared.current
    return connection !== undefined && isStarting(connection)
  }

  async exchange(request: RpcRequest, call: Call, credential: CallerCredential = noCredential): Promise<RpcResponse> {
    try {
      const shared = this.#findShared()
      if (shared !== undefined) return await this.#shared.send(shared, request, createForwardedCall(call))
      const identity = identityOf(request, call, credential)
      const failure = this.#sharing === undefined ? await this.#detect(request, call, identity) : undefined
      if (failure !== undefined) return { ...failure, id: request.id }
      // Even if it has ended meanwhile: its error says why, and the next request opens another connection.
      const detected = this.#shared.current
      if (detected !== undefined) return await this.#shared.send(detected, request, createForwardedCall(call))
      return await this.#exchangeAlone(request, call, identity)
    } catch (error) {
      if (isMcpError(error)) return errorResponse(request.id, error)
      if (!isLimitError(error)) throw error
      return errorResponse(request.id, limitErrorToMcp(error))
    }
  }

  /**
   * Forwards a host's notification. It names neither its client nor its session, so it follows the caller's latest
   * request to an older server. A failure is logged, because a notification has no response.
   */
  notify(notification: RpcNotification, call: Call): void {
    if (!isOfExtension(notification)) return
    const { log, name } = this.#options
    const connection = this.#findShared() ?? this.#pool.findOf(callerKeyOf(call))
    connection
      ?.notify?.(notification, createForwardedCall(call))
      .catch((error: unknown) => log(errorRecord(error, { method: notification.method, name })))
  }

  /** Closes all connections. Running calls end with an error. */
  async close(): Promise<void> {
    this.#sender.close()
    this.#waitingCalls.endAll()
    await Promise.all([this.#pool.close(), this.#shared.close()])
  }

  async probe(): Promise<unknown> {
    const request = createProbe()
    const shared = this.#findShared()
    if (shared !== undefined) return this.#requestDescription(request, shared)
    // Another process would not start faster, but a lost request says nothing of the next one.
    if (this.isStarting) return this.#detection
    if (this.#probing !== undefined) return this.#probing
    const pooled = this.#pool.open(identityOf(request, probeCall, noCredential))
    const answer = this.#requestDescription(request, pooled.connection).finally(() => {
      this.#probing = undefined
      return this.#pool.drop(pooled)
    })
    if (!isHttp(pooled.connection)) this.#probing = answer
    return answer
  }

  /** A connection over HTTP stays, because each of its requests opens a socket if it needs one. */
  replaceProcess(): void {
    const { current } = this.#shared
    if (current !== undefined && isReplaceable(current)) this.#leaveShared()
    this.#pool.dropIdleProcesses()
  }

  /** Finds the connection of all hosts. One that has ended, or whose server has become an older one, is forgotten. */
  #findShared(): Connection | undefined {
    const { current } = this.#shared
    if (current === undefined) return undefined
    const { revision = protocolVersion } = current.peer ?? {}
    if (revision === protocolVersion && !hasEnded(current)) return current
    this.#leaveShared()
    return undefined
  }

  #leaveShared(): void {
    this.#shared.replace()
    this.#sharing = undefined
  }

  async #exchangeAlone(request: RpcRequest, call: Call, identity: HostIdentity): Promise<RpcResponse> {
    const requestState = request.params?.['requestState']
    const mayAsk = this.#sharing === 'call' && findMethodRow(request.method)?.canRequireInput === true
    const pooled =
      requestState === undefined || !this.#isOlder
        ? this.#pool.acquire(identity, mayAsk)
        : this.#waitingCalls.resume(requestState, identity.key)
    if (pooled === undefined) return rejectLostRetry(request, this.#options)
    if (request.method !== 'server/discover') pooled.isFresh = false
    let state: string | undefined
    try {
      const forwarded = withContext(createForwardedCall(call), callingClientKey, pooled.client.client)
      const response = await this.#sender.send(pooled.connection.exchange, request, forwarded)
      if (this.#isOlder) state = stateIn(response)
      return response
    } finally {
      if (state !== undefined) this.#waitingCalls.hold(state, pooled)
      else this.#releaseCall(pooled, mayAsk)
    }
  }

  #releaseCall(pooled: PooledConnection, mayAsk: boolean): void {
    if (mayAsk) pooled.isAsked = false
    this.#pool.release(pooled)
  }

  /**
   * Finds out how hosts may share connections; calls that arrive meanwhile wait. Resolves with the error for all of
   * them if the server cannot be reached. If it refuses the request of one caller, or its credential, the next one
   * tries with its own.
   */
  async #detect(request: RpcRequest, call: Call, identity: HostIdentity): Promise<RpcResponse | undefined> {
    for (;;) {
      if (this.#sharing !== undefined) return undefined
      const isOwn = this.#detection === undefined
      this.#detection ??= this.#describe(request, identity).finally(() => {
        this.#detection = undefined
        this.#detecting = undefined
      })
      const failure = await this.#waitFor(this.#detection, call).catch((error: unknown) => {
        if (isOwn || !isLimitError(error)) throw error
        return 'quota' as const
      })
      if (failure !== 'quota' && (isOwn || failure === undefined || !isOfOneCaller(failure))) return failure
    }
  }

  /**
   * Waits for the detection, but only for a while for a process that starts, so that the host learns what it waits for.
   */
  async #waitFor(detection: Promise<RpcResponse | undefined>, call: Call): Promise<RpcResponse | undefined> {
    const { limitsStart, name, runtime } = this.#options
    if (limitsStart !== true || !this.isStarting) return raceWithCancellation(detection, call)
    const isInTime = await raceWithCancellation(settlesWithin(detection, startWaitMs, runtime), call)
    return isInTime || !this.isStarting
      ? raceWithCancellation(detection, call)
      : errorResponse(0, notStartedError(name))
  }

  async #describe(request: RpcRequest, identity: HostIdentity): Promise<RpcResponse | undefined> {
    let pooled: PooledConnection
    try {
      pooled = this.#pool.open(identity)
    } catch (error) {
      if (isLimitError(error) || isMcpError(error)) throw error
      return errorResponse(request.id, reportConnectError(error, this.#options))
    }
    const { connection } = pooled
    this.#detecting = connection
    const response =
      'peer' in connection
        ? await this.#requestDescription(request, pooled.connection, pooled.client.client)
        : undefined
    const { peer } = connection
    if (response === undefined || peer?.revision === protocolVersion) {
      this.#share(pooled)
      return undefined
    }
    if (peer === undefined) {
      await this.#pool.drop(pooled)
      return response
    }
    this.#isOlder = true
    this.#sharing = peer.namesCalls ? 'caller' : 'call'
    this.#pool.startIdle(pooled)
    return undefined
  }

  async #requestDescription(request: RpcRequest, connection: Connection, client?: CallingClient): Promise<RpcResponse> {
    const { name, runtime, onFailure } = this.#options
    const timeoutMs = Math.min(describeTimeoutMs, this.#sender.timeoutMs)
    const discover: RpcRequest = { ...request, method: 'server/discover', params: { _meta: identityMetaIn(request) } }
    const scope = openAbortScope(this.#pool.closed)
    let limitMs = timeoutMs
    try {
      const call = withContext(createCall({ signal: scope.signal }), callingClientKey, client)
      const answer = raceWithCancellation(this.#sender.send(connection.exchange, discover, call), scope.signal)
      const isInTime = await settlesWithin(answer, timeoutMs, runtime)
      if (!isInTime && (connection.state?.status === 'login_needed' || isStarting(connection))) {
        limitMs = openTimeoutMs
        await settlesWithin(answer, openTimeoutMs, runtime)
      }
      // Stops nothing if the answer has arrived.
      scope.stop(new Error('The server did not describe itself in time'))
      return await answer
    } catch {
      this.#pool.closed.throwIfAborted()
      onFailure?.()
      return errorResponse(request.id, noAnswerError(name, { begun: false, limitMs }))
    } finally {
      scope.close()
    }
  }

  #share(pooled: PooledConnection): void {
    this.#isOlder = false
    this.#sharing = this.#options.hasCredentials === true ? 'caller' : 'all'
    if (this.#sharing === 'caller') this.#pool.startIdle(pooled)
    else {
      this.#pool.remove(pooled)
      this.#shared.use(pooled.connection)
    }
  }
}

function stateIn(response: RpcResponse): string | undefined {
  if ('error' in response) return undefined
  const { resultType, requestState } = response.result
  return resultType === 'input_required' && typeof requestState === 'string' ? requestState : undefined
}
