import { cancel, type Cancellation, withCancellation, isWorkerd } from '@x/core'
import {
  type Call,
  errorCodes,
  errorResponse,
  McpError,
  findMethodRow,
  type Principal,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type Server,
  type WireError,
} from '@x/schema'
import type { AdapterContext } from './adapter-request.ts'
import { createHttpCallContext } from './call-context.ts'
import { abandonReply, sendKeepAlive, sendNotification, sendResponse, setReplyHeader, type Reply } from './reply.ts'
import type { RequestView } from './http-adapter.ts'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'
import type { HandlerSettings } from './handler-settings.ts'

/** The state of a handler: its server, its settings and its running calls. */
export interface HandlerContext<Source, Target> extends AdapterContext<Source, Target> {
  readonly server: Server
  readonly activeCalls: RunningCall<Target>[]
  /**
   * Runs {@link handleHeartbeat} for a call of `activeCalls` after a long wait, some seconds late at most. Undefined
   * where each wait has a timer.
   */
  readonly scheduleOnWheel: ((call: RunningCall<Target>, ms: number) => void) | undefined
}

/** A running call with its answer and its cancellation, in one record because thousands may be open. */
export interface RunningCall<Target = unknown> extends IndexedEntry, Reply<Target>, Cancellation {
  readonly id: RequestId
  /** True when the call streams until one side ends it, as subscriptions/listen does. */
  readonly isStreaming: boolean
  /** Milliseconds for which the call has been running, as far as the timers have counted. */
  elapsedMs: number
  /** Cancels the timer of the call; undefined while the call has none. */
  cancelTimer: (() => void) | undefined
  /** The tick of the shared timer at which the call is due. 0 for none. */
  dueTick: number
}

/** A request, and the facts of it that its call needs. */
interface HttpCallRequest<Source, Target> {
  readonly request: RpcRequest
  readonly principal: Principal | undefined
  readonly view: RequestView<Source>
  readonly target: Target
  readonly headers: readonly string[]
}

/** Runs a call until its answer, its timeout, or the close of its connection. */
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
  try {
    context.server.exchange(callRequest.request, createHttpCall(call, callRequest, context)).then(
      (response) => respondToCall(call, context, response),
      (error: unknown) => failCall(call, context, error),
    )
  } catch (error) {
    failCall(call, context, error)
  }
}

function createRunningCall<Source, Target>(
  { request, target, headers }: HttpCallRequest<Source, Target>,
  { httpAdapter, settings }: HandlerContext<Source, Target>,
): RunningCall<Target> {
  return {
    id: request.id,
    isStreaming: findMethodRow(request.method)?.isStreaming === true,
    writer: httpAdapter,
    target,
    headers,
    maxQueuedBytes: settings.maxQueuedBytes,
    phase: 'waiting',
    isCancelled: false,
    reason: undefined,
    controller: undefined,
    listeners: undefined,
    elapsedMs: 0,
    cancelTimer: undefined,
    dueTick: 0,
    index: -1,
  }
}

function respondToCall<Source, Target>(
  call: RunningCall<Target>,
  context: HandlerContext<Source, Target>,
  response: RpcResponse,
): void {
  try {
    sendResponse(
      call,
      response,
      'error' in response ? applyErrorHead(call, response.error, context.settings) : undefined,
    )
  } catch (error) {
    failCall(call, context, error)
  }
}

// A stream has no status or header for its error, because its head was sent before.
function applyErrorHead<Source>(
  call: RunningCall,
  error: WireError,
  { toHttpError }: HandlerSettings<Source>,
): number | undefined {
  const errorHead = call.phase === 'waiting' ? toHttpError?.(error) : undefined
  for (const [name, value] of Object.entries(errorHead?.headers ?? {})) setReplyHeader(call, name, value)
  return errorHead?.status
}

function failCall<Source, Target>(
  call: RunningCall<Target>,
  { httpAdapter, settings }: HandlerContext<Source, Target>,
  error: unknown,
): void {
  if (call.phase === 'ended') return
  settings.onError(error, httpAdapter.createRequestView(call.target))
  finishCall(call, error)
}

/** Cancels a call, whose answer is still sent. */
export function stopCall(call: RunningCall, reason: unknown): void {
  cancel(call, reason)
}

/** Answers a running call with an error. `status` applies to an answer that is not a stream. */
export function finishCall(call: RunningCall, error: unknown, status?: number): void {
  sendResponse(call, errorResponse(call.id, error), status)
}

function createHttpCall<Source, Target>(
  call: RunningCall<Target>,
  { principal, view }: HttpCallRequest<Source, Target>,
  { httpAdapter, settings }: HandlerContext<Source, Target>,
): Call {
  // A streaming call has no arguments that a header could repeat, and holds nothing of its request.
  const requestView = call.isStreaming ? undefined : view
  const context = createHttpCallContext(call, {
    view: requestView,
    getView: () => httpAdapter.createRequestView(call.target),
    clientAddress: () => settings.clientAddress?.(requestView ?? httpAdapter.createRequestView(call.target)),
  })
  return withCancellation({ principal, context, notify: (message: RpcNotification) => notify(call, message) }, call)
}

function notify(call: RunningCall, message: RpcNotification): void {
  if (sendNotification(call, message) || !call.isStreaming) return
  abortCall(call, new DOMException('The reader of the stream was too slow', 'AbortError'))
}

// The call is cancelled before its connection closes, so that the handler gets this reason.
function abortCall(call: RunningCall, reason: unknown): void {
  abandonReply(call)
  cancel(call, reason)
  call.writer.destroy(call.target)
}

// Runs when the connection is closed or the answer is sent. Only a closed connection cancels the call.
function endConnection(call: RunningCall): void {
  call.cancelTimer?.()
  if (call.phase === 'ended') return
  abandonReply(call)
  cancel(call, new DOMException('The client closed the connection', 'AbortError'))
}

const wheelThresholdMs = 10_000

// One timer serves the keep-alive comments and the time limit of the call.
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

/** Sends a keep-alive comment for a quiet call, or ends the call at its time limit. */
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
  cancel(call, new DOMException(message, 'TimeoutError'))
}

let waitingCallbacks: (() => void)[] = []

// A request on workerd must not run in another one's callback, because its I/O belongs to its own context.
const scheduleBatch: ((run: () => void) => unknown) | undefined = isWorkerd() ? undefined : globalThis.setImmediate

/**
 * Runs a function, which must not throw, after the event loop has read from every connection. The requests of one tick
 * are then served together: code and data stay in the processor's caches, and a peer with many running requests wakes
 * once for many answers. Serving each request on arrival costs a quarter more.
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
