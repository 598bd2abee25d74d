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
export interface LegacySession {
  readonly peer: LegacyServerPeer
  readonly port: Port
  /** The user of the session. Requests of others are rejected. */
  readonly user: string
  /** Capabilities that the handshake declared for the client. */
  readonly declaredCapabilities: ClientCapabilities
  /** Running calls in the order of their start. */
  readonly activeCalls: Set<LegacyRunningCall>
  /** Receive the notifications that belong to no call. */
  readonly listeners: Set<(message: RpcNotification) => void>
  /** Handle the server's messages outside calls. */
  readonly standaloneHandlers: ServerMessageHandlers
  /** Aborts when the session ends. */
  readonly endSignal: AbortSignal
  end(): void
  nextId(): number
  /** Asks the server for log messages of at least this level. */
  setLevel(level: LoggingLevel): Promise<void>
}

export interface LegacySessionOptions {
  readonly peer: LegacyServerPeer
  readonly port: Port
  readonly clientCapabilities: ClientCapabilities
  readonly settings: LegacySettings
  readonly user: string
  /** The client that began the session. It lists roots if the server requests them outside calls. */
  readonly client: CallingClient | undefined
}

export function createLegacySession(options: LegacySessionOptions): LegacySession {
  const { peer, port, clientCapabilities, settings, client, user } = options
  // Id 1 was the handshake's.
  let lastRequestId = 1
  let currentSeverity = -1
  const endController = new AbortController()
  // Bounded by the subscriptions of the host.
  const listeners: LegacySession['listeners'] = new Set()
  // Bounded by the calls of the client that run.
  const runningCalls: LegacySession['activeCalls'] = new Set()
  const nextId = (): number => (lastRequestId += 1)
  const onNotification = (message: RpcNotification): void => {
    if (message.method === 'notifications/message') return findLoggingCall(runningCalls)?.receive(message)
    if (isExtensionNotification(message.method)) return findLatestCall(runningCalls)?.receive(message)
    for (const listener of listeners) listener(message)
  }
  const onRequest = async (request: RpcRequest): Promise<RpcResponse | undefined> => {
    if (request.method === 'ping') return createStatefulResponse(request, { result: {} })
    // The response to a call may have arrived just before this request. Such a call ends in a later microtask, and must
    // not be asked.
    // oxlint-disable-next-line no-restricted-globals -- waits for one turn of the event loop
    await new Promise<void>((resolve) => setTimeout(resolve, 0))
    const askedCall = findLatestCall(runningCalls, ({ canBeAsked }) => canBeAsked)
    const askedClient = askedCall?.client ?? client
    // An older server may list roots for its own use, for example once after the handshake. That does not become a
    // question of a running call, because the call may end before the client answers.
    if (request.method === 'roots/list' && askedClient?.listRoots !== undefined)
      return answerRootsRequest(request, askedClient.listRoots)
    if (askedCall === undefined) return refuseUnrelatedRequest(request, settings)
    // If the call ends before it answers, the request still gets a response, because it may belong to another call.
    return (await askedCall.ask(request)) ?? createStatefulResponse(request, { error: callEndedError })
  }
  const setLevel = async (wantedLevel: LoggingLevel): Promise<void> => {
    const severity = severityOf(wantedLevel)
    // All calls of a session share one log level at the server: the lowest that a call has requested.
    if (
      peer.capabilities.logging === undefined ||
      severity === -1 ||
      (currentSeverity !== -1 && severity >= currentSeverity)
    )
      return
    currentSeverity = severity
    const request: RpcRequest = {
      jsonrpc: '2.0',
      id: nextId(),
      method: 'logging/setLevel',
      params: { level: wantedLevel },
    }
    const response = await port.send(request, endController.signal, { onNotification, onRequest })
    if ('error' in response) settings.warn('log_level', `The server did not take the log level ${wantedLevel}`)
  }
  return {
    peer,
    port,
    user,
    declaredCapabilities: clientCapabilities,
    activeCalls: runningCalls,
    listeners,
    nextId,
    setLevel,
    standaloneHandlers: { onNotification, onRequest },
    endSignal: endController.signal,
    end: () => endController.abort(new Error('The session has ended')),
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
