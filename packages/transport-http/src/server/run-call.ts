import { Cancellation, isWorkerd, withSignalOf } from '@x/core'
import { type Call, type HttpErrorContext, stoppingError } from '@x/exchange'
import {
  errorCodes,
  errorResponse,
  McpError,
  findMethodRow,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import type { AcceptedRequest, AdapterContext } from './adapter-request.ts'
import { HttpCallContext } from './call-context.ts'
import { abandonReply, sendKeepAlive, sendNotification, sendResponse, setReplyHeader, type Reply } from './reply.ts'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'
import type { HandlerSettings } from './handler-settings.ts'

/** What a handler has: its server, its settings and its running calls. */
export interface HandlerContext<Source, Target> extends AdapterContext<Source, Target> {
  readonly activeCalls: RunningCall<Target>[]
  /**
   * Calls {@link handleHeartbeat} for a call in `activeCalls` after a long wait, which may last a few seconds longer.
   * Undefined if each wait uses its own timer.
   */
  readonly scheduleOnWheel: ((call: RunningCall<Target>, ms: number) => void) | undefined
}

/** A running call with its answer. They form one object to save memory, because thousands of calls may be open. */
export interface RunningCall<Target = unknown> extends IndexedEntry, Reply<Target> {
  readonly cancellation: Cancellation
  readonly id: RequestId
  /** True if the call streams until one side ends it, as `subscriptions/listen` does. */
  readonly isStreaming: boolean
  /** Milliseconds for which the call has been running, updated whenever its timer fires. */
  elapsedMs: number
  /** Undefined if the call has no timer. */
  cancelTimer: (() => void) | undefined
  /** Tick of the shared timer at which the wait of the call ends. 0 if the call does not wait there. */
  dueTick: number
}

interface HttpCallRequest<Source, Target> extends Omit<AcceptedRequest<Source, Target>, 'bodyText'> {
  readonly request: RpcRequest
}

/** Runs a call until it is answered, reaches its time limit, or loses its connection. */
export function runHttpCall<Source, Target>(
  callRequest: HttpCallRequest<Source, Target>,
  context: HandlerContext<Source, Target>,
): void {
  const call = createRunningCall(callRequest, context)
  addToList(context.activeCalls, call)
  context.httpAdapter.onClose(call.target, () => {
    removeFromList(context.activeCalls, call)
    endConnection(call)
  })
  if (call.phase === 'ended') return
  scheduleCallHeartbeat(call, context)
  const origin = originOf(call, callRequest)
  try {
    context.server.exchange(callRequest.request, createHttpCall(call, callRequest, context)).then(
      (response) => respondToCall(call, response, origin, context),
      (error: unknown) => failCall(call, context, error),
    )
  } catch (error) {
    failCall(call, context, error)
  }
}

/** Which request an error belongs to. */
type RequestOrigin = Omit<HttpErrorContext, 'log'>

/** A streaming call keeps no reference to its request, to save memory. */
function originOf<Source, Target>(call: RunningCall, callRequest: HttpCallRequest<Source, Target>): RequestOrigin {
  const { id, method } = callRequest.request
  return call.isStreaming ? { request: { id, method }, principal: callRequest.principal } : callRequest
}

function createRunningCall<Source, Target>(
  { request, target, headers }: HttpCallRequest<Source, Target>,
  { httpAdapter, settings, server }: HandlerContext<Source, Target>,
): RunningCall<Target> {
  return {
    id: request.id,
    isStreaming: findMethodRow(request.method)?.isStreaming === true,
    writer: httpAdapter,
    target,
    headers,
    maxQueuedBytes: settings.maxQueuedBytes,
    log: server.log,
    phase: 'waiting',
    cancellation: new Cancellation(),
    elapsedMs: 0,
    cancelTimer: undefined,
    dueTick: 0,
    index: -1,
  }
}

function respondToCall<Source, Target>(
  call: RunningCall<Target>,
  response: RpcResponse,
  origin: RequestOrigin,
  context: HandlerContext<Source, Target>,
): void {
  try {
    sendResponse(
      call,
      response,
      'error' in response ? applyErrorHead(call, response.error, origin, context) : undefined,
    )
  } catch (error) {
    failCall(call, context, error)
  }
}

function applyErrorHead<Source, Target>(
  call: RunningCall<Target>,
  error: WireError,
  { request, principal }: RequestOrigin,
  { settings, server }: HandlerContext<Source, Target>,
): number | undefined {
  const errorHead = settings.toHttpError?.(error, { request, principal, log: server.log })
  // The head of a stream has already been sent.
  if (call.phase !== 'waiting') return undefined
  for (const [name, value] of Object.entries(errorHead?.headers ?? {})) setReplyHeader(call, name, value)
  return errorHead?.status
}

function failCall<Source, Target>(
  call: RunningCall<Target>,
  { httpAdapter, settings }: HandlerContext<Source, Target>,
  error: unknown,
): void {
  if (call.phase === 'ended') return
  // A stream that rejects with the reason of the stop has not failed.
  if (call.cancellation.isCancelled && error === call.cancellation.reason) return finishCall(call, stoppingError(), 503)
  settings.onError(error, httpAdapter.createRequestView(call.target))
  finishCall(call, error)
}

/** Cancels a call. Its answer is still sent. */
export function stopCall(call: RunningCall, reason: unknown): void {
  call.cancellation.cancel(reason)
}

/** Answers a running call with an error. `status` applies only if the answer is plain JSON. */
export function finishCall(call: RunningCall, error: unknown, status?: number): void {
  sendResponse(call, errorResponse(call.id, error), status)
}

function createHttpCall<Source, Target>(
  call: RunningCall<Target>,
  { principal, view }: HttpCallRequest<Source, Target>,
  { httpAdapter, settings }: HandlerContext<Source, Target>,
): Call {
  // A streaming call has no arguments that headers repeat, so it saves memory by keeping no reference to its request.
  const requestView = call.isStreaming ? undefined : view
  const context = new HttpCallContext(call, {
    view: requestView,
    getView: () => httpAdapter.createRequestView(call.target),
    clientAddress: () => settings.clientAddress?.(requestView ?? httpAdapter.createRequestView(call.target)),
  })
  return withSignalOf(
    { principal, context, notify: (message: RpcNotification) => notify(call, message) },
    call.cancellation,
  )
}

function notify(call: RunningCall, message: RpcNotification): void {
  if (sendNotification(call, message) || !call.isStreaming) return
  abortCall(call, new DOMException('The reader of the stream was too slow', 'AbortError'))
}

// Cancelled before the connection is closed, so that the handler receives this reason and not that of a closed
// connection.
function abortCall(call: RunningCall, reason: unknown): void {
  abandonReply(call)
  call.cancellation.cancel(reason)
  call.writer.destroy(call.target)
}

function endConnection(call: RunningCall): void {
  call.cancelTimer?.()
  if (call.phase === 'ended') return
  abandonReply(call)
  call.cancellation.cancel(new DOMException('The client closed the connection', 'AbortError'))
}

const wheelThresholdMs = 10_000

// Keep-alive comments and the time limit of a call share one timer.
function scheduleCallHeartbeat<Source, Target>(
  call: RunningCall<Target>,
  context: HandlerContext<Source, Target>,
): void {
  const { settings, scheduleOnWheel } = context
  const waitMs = computeNextWaitMs(call, settings)
  if (waitMs === Number.POSITIVE_INFINITY) return
  if (waitMs >= wheelThresholdMs && scheduleOnWheel !== undefined) scheduleOnWheel(call, waitMs)
  else call.cancelTimer = settings.schedule(() => handleHeartbeat(call, context), waitMs)
}

function computeNextWaitMs<Source>(call: RunningCall, { keepAliveMs, timeoutMs }: HandlerSettings<Source>): number {
  return call.isStreaming ? keepAliveMs : Math.min(keepAliveMs, timeoutMs - call.elapsedMs)
}

/** Sends a keep-alive comment if the call has sent nothing for a while, and ends the call at its time limit. */
export function handleHeartbeat<Source, Target>(
  call: RunningCall<Target>,
  context: HandlerContext<Source, Target>,
): void {
  if (call.phase === 'ended') return
  const { timeoutMs } = context.settings
  call.elapsedMs += computeNextWaitMs(call, context.settings)
  if (call.isStreaming || call.elapsedMs < timeoutMs) {
    sendKeepAlive(call)
    scheduleCallHeartbeat(call, context)
    return
  }
  const message = `The call took longer than ${timeoutMs} ms`
  finishCall(call, new McpError(errorCodes.internal, message), 504)
  call.cancellation.cancel(new DOMException(message, 'TimeoutError'))
}

let waitingCallbacks: (() => void)[] = []

// On workerd each request must run in its own callback, because its I/O belongs to its own context.
const scheduleBatch: ((run: () => void) => unknown) | undefined = isWorkerd() ? undefined : globalThis.setImmediate

/**
 * Runs a function, which must not throw, after the event loop has read from all connections. Requests of one tick are
 * then served together: code and data stay in the caches of the processor, and a client with many requests receives
 * many answers at once. Serving each request on arrival would take a quarter more time.
 */
export function runInNextBatch(run: () => void): void {
  if (scheduleBatch === undefined) run()
  else if (waitingCallbacks.push(run) === 1) scheduleBatch(runWaitingCallbacks)
}

function runWaitingCallbacks(): void {
  const dueCallbacks = waitingCallbacks
  waitingCallbacks = []
  for (const run of dueCallbacks) run()
}
