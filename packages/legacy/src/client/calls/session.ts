import {
  type ClientCapabilities,
  errorCodes,
  type JsonObject,
  type JsonValue,
  type LoggingLevel,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { CallingClient } from '@x/exchange/internal'
import { severityOf } from '@x/schema/internal'
import { isExtensionNotification } from '../../translate/request.ts'
import type { LegacyServerPeer, LegacySettings } from '../options.ts'
import type { Port, ServerMessageHandlers } from './port.ts'
import { createStatefulResponse } from './question.ts'

/** A call that is running at the server. */
export interface LegacyRunningCall {
  /** Undefined if the exchange was called without a client. */
  readonly client: CallingClient | undefined
  /** True if the server may ask the client during a call of this method. */
  readonly canBeAsked: boolean
  readonly wantsLogs: boolean
  receive(message: RpcNotification): void
  ask(request: RpcRequest): Promise<RpcResponse | undefined>
}

/** One session with an older server, after its handshake. */
export class LegacySession {
  readonly peer: LegacyServerPeer
  readonly port: Port
  /** The user of the session. Requests of others are rejected. */
  readonly user: string
  /** Capabilities that the handshake declared for the client. */
  readonly declaredCapabilities: ClientCapabilities
  /** Running calls in the order of their start. Bounded by the calls of the client that run. */
  readonly activeCalls = new Set<LegacyRunningCall>()
  /** Receive the notifications that belong to no call. Bounded by the subscriptions of the host. */
  readonly listeners = new Set<(message: RpcNotification) => void>()
  /** Handle the server's messages outside calls. */
  readonly standaloneHandlers: ServerMessageHandlers = {
    onNotification: (message) => this.#receive(message),
    onRequest: (request) => this.#answer(request),
  }
  readonly #settings: LegacySettings
  readonly #client: CallingClient | undefined
  readonly #endController = new AbortController()
  // Id 1 was the handshake's.
  #lastRequestId = 1
  #currentSeverity = -1

  /** `client` began the session. It lists roots if the server requests them outside calls. */
  constructor({
    peer,
    port,
    user,
    declaredCapabilities,
    settings,
    client,
  }: Pick<LegacySession, 'peer' | 'port' | 'user' | 'declaredCapabilities'> & {
    readonly settings: LegacySettings
    readonly client: CallingClient | undefined
  }) {
    this.peer = peer
    this.port = port
    this.user = user
    this.declaredCapabilities = declaredCapabilities
    this.#settings = settings
    this.#client = client
  }

  /** Aborts when the session ends. */
  get endSignal(): AbortSignal {
    return this.#endController.signal
  }

  end(): void {
    this.#endController.abort(new Error('The session has ended'))
  }

  nextId(): number {
    return (this.#lastRequestId += 1)
  }

  /** Asks the server for log messages of at least this level. */
  async setLevel(level: LoggingLevel): Promise<void> {
    const severity = severityOf(level)
    // All calls of a session share one log level at the server: the lowest that a call has requested.
    if (
      this.peer.capabilities.logging === undefined ||
      severity === -1 ||
      (this.#currentSeverity !== -1 && severity >= this.#currentSeverity)
    )
      return
    this.#currentSeverity = severity
    const request: RpcRequest = { jsonrpc: '2.0', id: this.nextId(), method: 'logging/setLevel', params: { level } }
    const response = await this.port.send(request, this.endSignal, this.standaloneHandlers)
    if ('error' in response) this.#settings.warn('log_level', `The server did not take the log level ${level}`)
  }

  #receive(message: RpcNotification): void {
    if (message.method === 'notifications/message') return findLoggingCall(this.activeCalls)?.receive(message)
    if (isExtensionNotification(message.method)) return findLatestCall(this.activeCalls)?.receive(message)
    for (const listener of this.listeners) listener(message)
  }

  async #answer(request: RpcRequest): Promise<RpcResponse | undefined> {
    if (request.method === 'ping') return createStatefulResponse(request, { result: {} })
    // The response to a call may have arrived just before this request. Such a call ends in a later microtask, and must
    // not be asked.
    // oxlint-disable-next-line no-restricted-globals -- waits for one turn of the event loop
    await new Promise<void>((resolve) => setTimeout(resolve, 0))
    const askedCall = findLatestCall(this.activeCalls, ({ canBeAsked }) => canBeAsked)
    const askedClient = askedCall?.client ?? this.#client
    // An older server may list roots for its own use, for example once after the handshake. That does not become a
    // question of a running call, because the call may end before the client answers.
    if (request.method === 'roots/list' && askedClient?.listRoots !== undefined)
      return answerRootsRequest(request, askedClient.listRoots)
    if (askedCall === undefined) return refuseUnrelatedRequest(request, this.#settings)
    // If the call ends before it answers, the request still gets a response, because it may belong to another call.
    return (await askedCall.ask(request)) ?? createStatefulResponse(request, { error: callEndedError })
  }
}

const callEndedError = { code: errorCodes.internal, message: 'The call ended before the question was answered' }

// Undefined if several calls want logs, because they may belong to different clients.
function findLoggingCall(runningCalls: ReadonlySet<LegacyRunningCall>): LegacyRunningCall | undefined {
  const loggingCalls = [...runningCalls].filter(({ wantsLogs }) => wantsLogs)
  return loggingCalls.length === 1 ? loggingCalls[0] : undefined
}

/**
 * Guesses which call a message outside calls belongs to: a request, or a notification of an extension. It is the latest
 * call that may receive it, if all such calls belong to one client; otherwise they may belong to different users, and
 * no user may see a message for another.
 */
function findLatestCall(
  runningCalls: ReadonlySet<LegacyRunningCall>,
  mayReceive: (call: LegacyRunningCall) => boolean = () => true,
): LegacyRunningCall | undefined {
  const [firstCall, ...otherCalls] = [...runningCalls].filter(mayReceive)
  if (firstCall === undefined || otherCalls.length === 0) return firstCall
  const isOfOneClient = firstCall.client !== undefined && otherCalls.every(({ client }) => client === firstCall.client)
  return isOfOneClient ? otherCalls.at(-1) : undefined
}

async function answerRootsRequest(
  request: RpcRequest,
  listRoots: NonNullable<CallingClient['listRoots']>,
): Promise<RpcResponse> {
  try {
    // Roots are JSON, but their readonly types are not assignable to `JsonValue`.
    const result = { roots: (await listRoots()) as unknown as JsonValue } satisfies JsonObject
    return createStatefulResponse(request, { result })
  } catch {
    const error = { code: errorCodes.internal, message: 'The roots could not be listed' }
    return createStatefulResponse(request, { error })
  }
}

/** Rejects a request of the server that belongs to no running call (SEP-2260). */
function refuseUnrelatedRequest(request: RpcRequest, { warn }: LegacySettings): RpcResponse {
  const message = `${request.method.slice(0, 100)} belongs to no call that this client has in progress`
  warn('refused_request', message)
  return createStatefulResponse(request, { error: { code: errorCodes.invalidRequest, message } })
}
