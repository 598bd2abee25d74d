import { cancel, type Cancellation, withCancellation, createCancellation } from '@x/core'
import {
  backPressureKey,
  type Call,
  type CallContext,
  clientAddressKey,
  createCall,
  encodeMessage,
  errorCodes,
  errorResponse,
  type Exchange,
  McpError,
  findMethodRow,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type StreamHandler,
  transportKey,
  withContext,
} from '@x/schema'
import { quotaError } from '@x/schema/internal'
import { createCancelledNotification, withRequestId } from '../request-notifications.ts'
import type { MessageWriter } from '../message-writer.ts'
import type { ServiceSettings } from './options.ts'

/** The calls of one connection. */
export interface CallRegistry {
  /** Runs a call, or rejects it. `handler` serves it instead of the exchange. */
  run(request: RpcRequest, handler?: StreamHandler): void
  /** Cancels a call: nothing more is sent for it (basic/patterns/cancellation). */
  cancel(id: RequestId, reason: string | undefined): void
  /** Asks every call to stop. Their responses are still sent. */
  stop(reason: unknown): void
  /** Resolves when no call runs. */
  waitForAllCalls(): Promise<void>
  /** Sends error responses for the calls that are still running. */
  rejectPendingCalls(): void
}

interface RunningCall {
  readonly id: RequestId
  readonly cancellation: Cancellation
  /** `true` when it streams until either side ends it, as subscriptions/listen does. */
  readonly isStreaming: boolean
  /** `true` after the first message of its stream. */
  hasNotified: boolean
  /** The time of its last progress notification. */
  lastProgressAt: number
  /** `true` when nothing more may be sent for it. */
  isEnded: boolean
}

interface RegistryState {
  readonly exchange: Exchange
  readonly writer: MessageWriter
  readonly settings: ServiceSettings
  /** The context that all calls of the connection share. */
  readonly context: CallContext
  /** Calls by their ids, which the client may not reuse yet. */
  readonly callsById: Map<RequestId, RunningCall>
  /** Every running call, including those without a waiting client. */
  readonly runningCalls: Set<RunningCall>
  isStopping: boolean
  onIdle: () => void
}

/** Creates an empty set of calls. `writer` sends their output. */
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
      cancel(call.cancellation, new DOMException(reason ?? 'The client cancelled the request', 'AbortError'))
    },
    stop: (reason) => {
      registryState.isStopping = true
      for (const call of registryState.runningCalls) cancel(call.cancellation, reason)
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
 * Calls that one connection may have running. Streams count, and so do cancelled calls whose handler still runs. A
 * further call gets an error, so that cancellations are still read.
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

/** A second: the end of a running call is not known in advance, and an early retry costs little. */
const retryAfterMs = 1000

/** Creates the context of a connection's calls. Its one peer has one address under every client name. */
function createContext(writer: MessageWriter): CallContext {
  const call = withContext(createCall(), transportKey, 'stdio')
  return withContext(withContext(call, clientAddressKey, 'stdio'), backPressureKey, writer.waitForDrain).context
}

function runRequest(registryState: RegistryState, request: RpcRequest, handler: StreamHandler | undefined): void {
  const { id } = request
  const isStreaming = findMethodRow(request.method)?.isStreaming === true
  const call: RunningCall = {
    id,
    cancellation: createCancellation(),
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
    handleCall(registryState, call, { request, handler })
      .then((response) => {
        writeResponse(registryState, call, response)
        deleteRunningCall(registryState, call)
      })
      .catch(onCallError)
  } catch (error) {
    onCallError(error)
  }
}

interface StreamCallRequest {
  readonly request: RpcRequest
  readonly handler: StreamHandler | undefined
}

function handleCall(
  registryState: RegistryState,
  call: RunningCall,
  { request, handler }: StreamCallRequest,
): Promise<RpcResponse> {
  const { exchange, writer } = registryState
  if (handler === undefined)
    return exchange(
      request,
      createStreamCall(registryState, call, (message) => withRequestId(message, call.id)),
    )
  // The adapter for earlier revisions writes whole messages, which are sent unchanged.
  const streamCall = createStreamCall(registryState, call, (message) => message)
  return handler(request, streamCall, (peerRequest) => {
    if (!call.isEnded) writer.write(encodeMessage(peerRequest))
  })
}

type NotificationMapper = (message: RpcNotification) => RpcNotification

function createStreamCall(registryState: RegistryState, call: RunningCall, mapNotification: NotificationMapper): Call {
  const notify = (message: RpcNotification): void => writeNotification(registryState, call, mapNotification(message))
  const { settings, context } = registryState
  return withCancellation({ principal: settings.principal, context, notify }, call.cancellation)
}

// A call that rejects because it was asked to stop has not failed.
function toCallError({ isStopping, settings }: RegistryState, { cancellation }: RunningCall, error: unknown): unknown {
  if (isStopping && error === cancellation.reason) return stoppingError()
  settings.onError(error)
  return error
}

function stoppingError(): McpError {
  return new McpError(errorCodes.internal, 'The server is stopping')
}

function writeNotification(registryState: RegistryState, call: RunningCall, message: RpcNotification): void {
  if (call.isEnded) return
  const { writer, settings } = registryState
  const text = encodeMessage(message)
  if (writer.getQueuedBytes() + text.length <= settings.maxQueuedBytes) {
    call.hasNotified = true
    if (message.method === 'notifications/progress') call.lastProgressAt = settings.clock.monotonicNow()
    writer.write(text)
  } else if (call.isStreaming) endSlowStream(registryState, call)
}

/** Ends a stream with a slow reader, and notifies the client, which may open it again. */
function endSlowStream(registryState: RegistryState, call: RunningCall): void {
  removeCall(registryState, call)
  writeMessage(registryState.writer, createCancelledNotification(call.id, 'The reader of the stream was too slow'))
  cancel(call.cancellation, new DOMException('The reader of the stream was too slow', 'AbortError'))
}

/**
 * Sends the response of a call, unless it was cancelled. Throws for a response that is not JSON. Nothing was sent then.
 */
function writeResponse(registryState: RegistryState, call: RunningCall, response: RpcResponse): void {
  if (call.isEnded) return
  const text = encodeMessage(response)
  removeCall(registryState, call)
  writeResponseText(registryState, call, text)
  // basic/patterns/cancellation: a server that ends a subscription sends a cancellation. The response alone does not
  // end the stream.
  if (call.isStreaming && call.hasNotified) writeMessage(registryState.writer, createCancelledNotification(call.id))
}

/**
 * Milliseconds between the last progress of a call and its response. Official clients drop the progress that they read
 * in one chunk with the response, as a peer on a busy machine does within about 2 ms.
 */
const progressGapMs = 5

function writeResponseText({ writer, settings }: RegistryState, { lastProgressAt }: RunningCall, text: string): void {
  // Nearly every call has no progress, and then no clock is read.
  if (lastProgressAt === Number.NEGATIVE_INFINITY) return writer.write(text)
  const pauseMs = progressGapMs - (settings.clock.monotonicNow() - lastProgressAt)
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
