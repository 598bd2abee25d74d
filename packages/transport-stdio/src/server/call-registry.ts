import { Cancellation, withSignalOf } from '@x/core'
import {
  backPressureKey,
  type Call,
  type CallContext,
  clientAddressKey,
  createCall,
  type Exchange,
  stoppingError,
  type StreamHandler,
  transportKey,
  withContext,
} from '@x/exchange'
import {
  encodeMessage,
  errorCodes,
  errorResponse,
  McpError,
  findMethodRow,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { quotaError } from '@x/exchange/internal'
import { createCancelledNotification, withRequestId } from '../request-notifications.ts'
import type { MessageWriter } from '../message-writer.ts'
import type { ServiceSettings } from './options.ts'

/** The calls of one connection. */
export interface CallRegistry {
  /** Runs a call, or rejects it if it exceeds a limit. `handler` replaces the exchange if it is set. */
  run(request: RpcRequest, handler?: StreamHandler): void
  /** Cancels a call. No further message is sent for the call (basic/patterns/cancellation). */
  cancel(id: RequestId, reason: string | undefined): void
  /** Requests every call to stop. Their responses are still sent. */
  stop(reason: unknown): void
  /** Resolves when no call is running. */
  waitForAllCalls(): Promise<void>
  /** Sends error responses for the calls that are still running. */
  rejectPendingCalls(): void
}

interface RunningCall {
  readonly id: RequestId
  readonly cancellation: Cancellation
  /** True if the call streams until one side ends it, as `subscriptions/listen` does. */
  readonly isStreaming: boolean
  /** True after the first notification of the call. */
  hasNotified: boolean
  /** The time of the last progress notification. */
  lastProgressAt: number
  /** True if no further message may be sent for the call. */
  isEnded: boolean
}

interface RegistryState {
  readonly exchange: Exchange
  readonly writer: MessageWriter
  readonly settings: ServiceSettings
  /** The context that all calls of the connection share. */
  readonly context: CallContext
  /** The calls without a response, by their ids. The client may not reuse these ids yet. */
  readonly callsById: Map<RequestId, RunningCall>
  /** All running calls, including cancelled calls whose client no longer waits. */
  readonly runningCalls: Set<RunningCall>
  isStopping: boolean
  onIdle: () => void
}

/** Creates an empty registry. The calls write their messages to `writer`. */
export function createCallRegistry(exchange: Exchange, writer: MessageWriter, settings: ServiceSettings): CallRegistry {
  const registryState: RegistryState = {
    exchange,
    writer,
    settings,
    context: createContext(writer),
    callsById: new Map(),
    runningCalls: new Set(),
    isStopping: false,
    onIdle: () => {},
  }
  return {
    run: (request, handler) => {
      const rejection = findNewCallError(registryState, request.id)
      if (rejection === undefined) runRequest(registryState, request, handler)
      else writeMessage(writer, errorResponse(request.id, rejection))
    },
    cancel: (id, reason) => {
      const call = registryState.callsById.get(id)
      if (call === undefined) return
      removeCall(registryState, call)
      call.cancellation.cancel(new DOMException(reason ?? 'The client cancelled the request', 'AbortError'))
    },
    stop: (reason) => {
      registryState.isStopping = true
      for (const call of registryState.runningCalls) call.cancellation.cancel(reason)
    },
    waitForAllCalls: () =>
      new Promise((resolve) => {
        registryState.onIdle = resolve
        if (registryState.runningCalls.size === 0) resolve()
      }),
    rejectPendingCalls: () => {
      for (const call of registryState.callsById.values())
        writeResponse(registryState, call, errorResponse(call.id, stoppingError()))
    },
  }
}

/**
 * The number of calls that may run on one connection, including streams and cancelled calls whose handler still runs.
 * If this limit is reached, a new call gets an error. The connection is not paused, so that cancellations are still
 * read.
 */
const maxCalls = 1024

function findNewCallError({ callsById, runningCalls }: RegistryState, id: RequestId): McpError | undefined {
  if (callsById.has(id)) {
    const message = 'A request with this id is pending: give each request a unique id'
    return new McpError(errorCodes.invalidRequest, message)
  }
  if (runningCalls.size < maxCalls) return undefined
  return quotaError({ limit: 'calls', max: maxCalls, retryAfterMs, advice: 'wait for one of them to end' })
}

/**
 * The time after which a client may repeat a rejected call. The time until a running call ends is unknown, and a retry
 * that is too early costs little.
 */
const retryAfterMs = 1000

/**
 * Creates the context that all calls of a connection share. The address is fixed, because a connection has one peer.
 */
function createContext(writer: MessageWriter): CallContext {
  const call = withContext(createCall(), transportKey, 'stdio')
  return withContext(withContext(call, clientAddressKey, 'stdio'), backPressureKey, writer.waitForDrain).context
}

function runRequest(registryState: RegistryState, request: RpcRequest, handler: StreamHandler | undefined): void {
  const { id } = request
  const isStreaming = findMethodRow(request.method)?.isStreaming === true
  const call: RunningCall = {
    id,
    cancellation: new Cancellation(),
    isStreaming,
    hasNotified: false,
    lastProgressAt: Number.NEGATIVE_INFINITY,
    isEnded: false,
  }
  registryState.callsById.set(id, call)
  registryState.runningCalls.add(call)
  const onCallError = (error: unknown): void => {
    if (!call.isEnded) writeResponse(registryState, call, errorResponse(id, toCallError(registryState, call, error)))
    deleteRunningCall(registryState, call)
  }
  try {
    handleCall(registryState, call, request, handler)
      .then((response) => {
        writeResponse(registryState, call, response)
        deleteRunningCall(registryState, call)
      })
      .catch(onCallError)
  } catch (error) {
    onCallError(error)
  }
}

function handleCall(
  registryState: RegistryState,
  call: RunningCall,
  request: RpcRequest,
  handler: StreamHandler | undefined,
): Promise<RpcResponse> {
  const { exchange, writer } = registryState
  if (handler === undefined)
    return exchange(
      request,
      createStreamCall(registryState, call, (message) => withRequestId(message, call.id)),
    )
  // The adapter for earlier revisions creates complete messages, which are sent unchanged.
  const streamCall = createStreamCall(registryState, call, (message) => message)
  return handler(request, streamCall, (peerRequest) => {
    if (!call.isEnded) writer.write(encodeMessage(peerRequest, registryState.settings.log))
  })
}

type NotificationMapper = (message: RpcNotification) => RpcNotification

function createStreamCall(registryState: RegistryState, call: RunningCall, mapNotification: NotificationMapper): Call {
  const notify = (message: RpcNotification): void => writeNotification(registryState, call, mapNotification(message))
  const { settings, context } = registryState
  return withSignalOf({ principal: settings.principal, context, notify }, call.cancellation)
}

// A call that rejects with the reason of the stop has not failed, so its error is not reported.
function toCallError({ isStopping, settings }: RegistryState, { cancellation }: RunningCall, error: unknown): unknown {
  if (isStopping && error === cancellation.reason) return stoppingError()
  settings.onError(error)
  return error
}

function writeNotification(registryState: RegistryState, call: RunningCall, message: RpcNotification): void {
  if (call.isEnded) return
  const { writer, settings } = registryState
  const text = encodeMessage(message, settings.log)
  if (writer.getQueuedBytes() + text.length <= settings.maxQueuedBytes) {
    call.hasNotified = true
    if (message.method === 'notifications/progress') call.lastProgressAt = settings.clock.monotonicNow()
    writer.write(text)
  } else if (call.isStreaming) endSlowStream(registryState, call)
}

/** Ends the stream of a slow reader. The client is notified, so that it can open the stream again. */
function endSlowStream(registryState: RegistryState, call: RunningCall): void {
  removeCall(registryState, call)
  writeMessage(registryState.writer, createCancelledNotification(call.id, 'The reader of the stream was too slow'))
  call.cancellation.cancel(new DOMException('The reader of the stream was too slow', 'AbortError'))
}

/**
 * Sends the response of a call, unless the call was cancelled. Throws, before anything is sent, if the response cannot
 * be converted to JSON.
 */
function writeResponse(registryState: RegistryState, call: RunningCall, response: RpcResponse): void {
  if (call.isEnded) return
  const text = encodeMessage(response, registryState.settings.log)
  removeCall(registryState, call)
  writeResponseText(registryState, call, text)
  // basic/patterns/cancellation: a server ends a subscription by sending a cancellation. The response alone does not
  // end it.
  if (call.isStreaming && call.hasNotified) writeMessage(registryState.writer, createCancelledNotification(call.id))
}

/**
 * The minimum time in milliseconds between the last progress notification of a call and its response. Official clients
 * ignore progress that they read in one chunk with the response. On a busy machine a client reads messages within about
 * 2 ms as one chunk.
 */
const progressGapMs = 5

function writeResponseText({ writer, settings }: RegistryState, { lastProgressAt }: RunningCall, text: string): void {
  // Nearly every call sends no progress, so the clock need not be read.
  if (lastProgressAt === Number.NEGATIVE_INFINITY) return writer.write(text)
  // A handler that blocks the event loop keeps its progress from being written, however long ago it was reported.
  const elapsedMs = writer.hasPendingText() ? 0 : settings.clock.monotonicNow() - lastProgressAt
  const pauseMs = progressGapMs - elapsedMs
  if (pauseMs > 0) writer.writeAfterPause(text, pauseMs)
  else writer.write(text)
}

function writeMessage(writer: MessageWriter, message: RpcNotification | RpcResponse): void {
  writer.write(encodeMessage(message))
}

function removeCall({ callsById }: RegistryState, call: RunningCall): void {
  call.isEnded = true
  callsById.delete(call.id)
}

function deleteRunningCall(registryState: RegistryState, call: RunningCall): void {
  registryState.runningCalls.delete(call)
  if (registryState.runningCalls.size === 0) registryState.onIdle()
}
