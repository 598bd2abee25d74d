import {
  type Call,
  cancel,
  type Cancellation,
  cancelledBy,
  createCancellation,
  errorCodes,
  errorResponse,
  type Exchange,
  McpError,
  methodRow,
  type Principal,
  type RpcNotification,
  type RpcRequest,
} from '@x/schema'
import { callHeaders } from './call-headers.ts'
import { mirroredHeaders } from './mirrored.ts'
import type { Outlet } from './outlet.ts'
import { abandonReply, createReply, keepAlive, sendNotification, sendResponse } from './reply.ts'
import type { Reply } from './reply.ts'
import type { RequestView } from './request-view.ts'
import { enter, leave, type Rostered } from '../roster.ts'
import type { Settings } from './settings.ts'

/** A handler: what it serves, how, and what it is busy with. */
export interface HandlerContext<Source> {
  readonly exchange: Exchange
  readonly settings: Settings<Source>
  readonly running: RunningCall[]
}

/** A call under way. */
export interface RunningCall extends Rostered {
  readonly request: RpcRequest
  readonly reply: Reply
  readonly cancellation: Cancellation
  /** Whether it streams until somebody ends it, as subscriptions/listen does. */
  readonly streams: boolean
  /** How long it has been running, as far as the timers have told. */
  waitedMs: number
  /** Calls the next timer off. */
  cancelTimer: (() => void) | undefined
}

/** What a call is made of. */
export interface CallParts<Source> {
  readonly request: RpcRequest
  readonly principal: Principal | undefined
  readonly view: RequestView<Source>
  readonly outlet: Outlet
  readonly headers: readonly string[]
}

/** Runs a call to its end: an answer, a timeout, or the peer's leaving. */
export function runCall<Source>(parts: CallParts<Source>, context: HandlerContext<Source>): void {
  const { request, outlet, view } = parts
  const { settings, running } = context
  const call: RunningCall = {
    request,
    reply: createReply(outlet, parts.headers, settings.maxQueuedBytes),
    cancellation: createCancellation(),
    streams: methodRow(request.method)?.streams === true,
    waitedMs: 0,
    cancelTimer: undefined,
    place: -1,
  }
  enter(running, call)
  outlet.onClose(() => {
    leave(running, call)
    endConnection(call)
  })
  if (call.reply.phase === 'ended') return
  awaitBeat(call, context)
  const fail = (error: unknown) => {
    if (call.reply.phase === 'ended') return
    settings.onError(error, view)
    finishCall(call, error)
  }
  try {
    context
      .exchange(request, callOf(call, parts))
      .then((response) => sendResponse(call.reply, response))
      .catch(fail)
  } catch (error) {
    fail(error)
  }
}

/** Tells a call that it should stop; its answer is still welcome. */
export function stopCall(call: RunningCall, reason: unknown): void {
  cancel(call.cancellation, reason)
}

/** Ends a call with an error, whatever it is still doing. `status` is for an answer that is still plain JSON. */
export function finishCall(call: RunningCall, error: unknown, status?: number): void {
  sendResponse(call.reply, errorResponse(call.request.id, error), status)
}

function callOf<Source>(call: RunningCall, { principal, view }: CallParts<Source>): Call {
  const takeNotification = (message: RpcNotification) => notify(call, message)
  const headers = () => callHeaders(view, call.reply)
  const parts = { principal, mirrored: mirroredHeaders(view), headers, movable: true, notify: takeNotification }
  const complete = call.streams ? { ...parts, drained: () => call.reply.outlet.drained() } : parts
  return cancelledBy(complete, call.cancellation)
}

function notify(call: RunningCall, message: RpcNotification): void {
  if (sendNotification(call.reply, message) || !call.streams) return
  breakOff(call, new DOMException('The reader of the stream was too slow', 'AbortError'))
}

// The signal's reason is made before anybody hears of the break, so that a handler learns why.
function breakOff(call: RunningCall, reason: unknown): void {
  abandonReply(call.reply)
  cancel(call.cancellation, reason)
  call.reply.outlet.destroy()
}

// The peer has gone, or has the whole answer; only the first is news to the handler.
function endConnection(call: RunningCall): void {
  call.cancelTimer?.()
  if (call.reply.phase === 'ended') return
  abandonReply(call.reply)
  cancel(call.cancellation, new DOMException('The client closed the connection', 'AbortError'))
}

// One timer serves both the comments and the time limit.
function awaitBeat<Source>(call: RunningCall, context: HandlerContext<Source>): void {
  const { keepAliveMs, timeoutMs, schedule } = context.settings
  const left = call.streams ? Number.POSITIVE_INFINITY : timeoutMs - call.waitedMs
  const wait = Math.min(keepAliveMs, left)
  if (wait === Number.POSITIVE_INFINITY) return
  call.cancelTimer = schedule(() => beat(call, context, wait), wait)
}

function beat<Source>(call: RunningCall, context: HandlerContext<Source>, waited: number): void {
  if (call.reply.phase === 'ended') return
  const { timeoutMs } = context.settings
  call.waitedMs += waited
  if (call.streams || call.waitedMs < timeoutMs) {
    keepAlive(call.reply)
    awaitBeat(call, context)
    return
  }
  const message = `The call took longer than ${timeoutMs} ms`
  finishCall(call, new McpError(errorCodes.internal, message), 504)
  cancel(call.cancellation, new DOMException(message, 'TimeoutError'))
}
