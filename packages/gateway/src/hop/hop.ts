import { errorRecord, isLimitError, raceWithCancellation, withTimeout } from '@x/core'
import {
  type Call,
  callerKeyOf,
  type Connection,
  createCall,
  limitErrorToMcp,
  type Server,
  withContext,
} from '@x/exchange'
import {
  errorResponse,
  findMethodRow,
  findNotificationRow,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { callingClientKey } from '@x/exchange/internal'
import { invalidStateError } from '../names/state.ts'
import {
  type CallerCredential,
  canBeAsked,
  type HostIdentity,
  identityOf,
  noCredential,
  requestMetaIn,
} from './host-identity.ts'
import { ConnectionPool, isHttp, type PooledConnection, type UpstreamOptions } from './pool.ts'
import { RunningCalls } from './running-calls.ts'
import { createForwardedCall, createSendRequest, type HopOptions, type SendRequest } from './send-request.ts'
import { isCredentialFailure, noAnswerError } from './upstream-error.ts'
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

/** Milliseconds that an upstream has to describe itself, before the first call, if the limit of a call is not shorter. */
const describeTimeoutMs = 30_000

/** The way to one upstream. */
export interface Hop {
  /** Sends a request of a host to the upstream. Resolves with an error that names the upstream if it gives no answer. */
  exchange(request: RpcRequest, call: Call, credential?: CallerCredential): Promise<RpcResponse>
  /** Forwards a notification of an extension. Those of the protocol belong to the host and the proxy. */
  notify(notification: RpcNotification, call: Call): void
  /** True if calls that wait for answers can only continue in this process. */
  readonly keepsCalls: boolean
  /** Closes the process of an unreachable server, so that the next call starts another one. */
  replaceProcess(): void
  close(): Promise<void>
}

/** Creates the hop to a server in this process, which receives the calls of hosts with their principal. */
export function serverHop(server: Server, options: HopOptions): Hop {
  const running = new RunningCalls(options.runtime, options.timeoutMs)
  const send = createSendRequest(options, running)
  const detachHost = server.attachHost()
  return {
    exchange: (request, call) => send(server.exchange, request, call),
    notify: (notification, call) => {
      try {
        if (isOfExtension(notification)) server.receive(notification, call)
      } catch (error) {
        options.log(errorRecord(error, { method: notification.method, name: options.name }))
      }
    },
    keepsCalls: false,
    replaceProcess: () => {},
    close: async () => {
      running.close()
      await detachHost()
    },
  }
}

/** The hop to an upstream outside of this process. The revision of the upstream decides which hosts share a connection. */
export class ConnectedHop implements Hop {
  readonly #options: HopOptions
  readonly #running: RunningCalls
  readonly #send: SendRequest
  readonly #pool: ConnectionPool
  readonly #waitingCalls: WaitingCalls<PooledConnection>
  /** The connection of all hosts, to a server of revision 2026-07-28. */
  #shared: Connection | undefined
  #sharing: Sharing | undefined
  #isOlder = false
  #detection: Promise<RpcResponse | undefined> | undefined

  constructor(upstream: UpstreamOptions, options: HopOptions) {
    this.#options = options
    this.#running = new RunningCalls(options.runtime, options.timeoutMs)
    this.#send = createSendRequest(options, this.#running)
    this.#pool = new ConnectionPool(upstream, options)
    this.#waitingCalls = new WaitingCalls(options, (pooled, state) => {
      pooled.client.abandon(state)
      pooled.isAsked = false
      this.#pool.release(pooled)
    })
  }

  get keepsCalls(): boolean {
    return this.#isOlder
  }

  async exchange(request: RpcRequest, call: Call, credential: CallerCredential = noCredential): Promise<RpcResponse> {
    const shared = this.#findShared()
    if (shared !== undefined) return this.#send(shared.exchange, request, createForwardedCall(call))
    try {
      const identity = identityOf(request, call, credential)
      const failure = this.#sharing === undefined ? await this.#detect(request, call, identity) : undefined
      if (failure !== undefined) return { ...failure, id: request.id }
      const detected = this.#findShared()
      if (detected !== undefined) return await this.#send(detected.exchange, request, createForwardedCall(call))
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
    if (!isOfExtension(notification)) return
    const { log, name } = this.#options
    const connection = this.#findShared() ?? this.#pool.findOf(callerKeyOf(call))
    connection
      ?.notify?.(notification, createForwardedCall(call))
      .catch((error: unknown) => log(errorRecord(error, { method: notification.method, name })))
  }

  /** Closes all connections. Running calls end with an error. */
  async close(): Promise<void> {
    this.#running.close()
    this.#waitingCalls.endAll()
    await Promise.all([this.#pool.close(), this.#shared?.close()])
  }

  /** A connection over HTTP stays, because each of its requests opens a socket if it needs one. */
  replaceProcess(): void {
    if (this.#shared !== undefined && !isHttp(this.#shared)) this.#closeShared()
    this.#pool.dropIdleProcesses()
  }

  /** Returns the connection of all hosts. Forgets it if the server has become one of an older revision. */
  #findShared(): Connection | undefined {
    if (this.#shared?.peer?.era === 'legacy') this.#closeShared()
    return this.#shared
  }

  #closeShared(): void {
    if (this.#shared !== undefined) void this.#pool.closeConnection(this.#shared)
    this.#shared = undefined
    this.#sharing = undefined
  }

  async #exchangeAlone(request: RpcRequest, call: Call, identity: HostIdentity): Promise<RpcResponse> {
    const requestState = request.params?.['requestState']
    const isAlone = this.#sharing === 'call' && mayAsk(request)
    const pooled =
      requestState === undefined || !this.#isOlder
        ? this.#pool.acquire(identity, isAlone)
        : this.#waitingCalls.resume(requestState, identity.key)
    if (pooled === undefined) return errorResponse(request.id, invalidStateError())
    if (request.method !== 'server/discover') pooled.isFresh = false
    let response: RpcResponse | undefined
    try {
      const forwarded = withContext(createForwardedCall(call), callingClientKey, pooled.client.client)
      response = await this.#send(pooled.connection.exchange, request, forwarded)
      return response
    } finally {
      const state = this.#isOlder ? stateIn(response) : undefined
      if (state === undefined) {
        if (isAlone) pooled.isAsked = false
        this.#pool.release(pooled)
      } else this.#waitingCalls.hold(state, pooled)
    }
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
    const { name, log } = this.#options
    let pooled: PooledConnection
    try {
      pooled = this.#pool.open(identity)
    } catch (error) {
      if (isLimitError(error)) throw error
      log(errorRecord(error, { method: 'server/discover', name }))
      return errorResponse(request.id, noAnswerError(name))
    }
    const { connection } = pooled
    const response = 'peer' in connection ? await this.#requestDescription(request, pooled) : undefined
    const { peer } = connection
    if (response === undefined || peer?.era === 'modern') {
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

  async #requestDescription(request: RpcRequest, { connection, client }: PooledConnection): Promise<RpcResponse> {
    const { name, runtime, onFailure, ...options } = this.#options
    const timeoutMs = Math.min(options.describeTimeoutMs ?? describeTimeoutMs, this.#running.timeoutMs)
    const discover: RpcRequest = { ...request, method: 'server/discover', params: { _meta: requestMetaIn(request) } }
    const error = noAnswerError(name, timeoutMs)
    const limits = { timeoutMs, clock: runtime, createTimeoutError: () => error, signal: this.#pool.closed }
    try {
      return await withTimeout(limits, (signal) =>
        this.#send(connection.exchange, discover, withContext(createCall({ signal }), callingClientKey, client.client)),
      )
    } catch {
      onFailure?.()
      return errorResponse(request.id, error)
    }
  }

  #share(pooled: PooledConnection): void {
    this.#isOlder = false
    this.#sharing = this.#options.hasCredentials === true ? 'caller' : 'all'
    if (this.#sharing === 'caller') this.#pool.startIdle(pooled)
    else {
      this.#pool.remove(pooled)
      this.#shared = pooled.connection
    }
  }
}

function isOfExtension({ method }: RpcNotification): boolean {
  return findNotificationRow(method) === undefined && !method.startsWith('notifications/')
}

function mayAsk(request: RpcRequest): boolean {
  return findMethodRow(request.method)?.canRequireInput === true && canBeAsked(request)
}

function stateIn(response: RpcResponse | undefined): string | undefined {
  if (response === undefined || 'error' in response) return undefined
  const { resultType, requestState } = response.result
  return resultType === 'input_required' && typeof requestState === 'string' ? requestState : undefined
}
