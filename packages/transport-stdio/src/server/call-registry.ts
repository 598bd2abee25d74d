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

interface RunningCall {
  readonly id: RequestId
  readonly cancellation: Cancellation
  readonly isStreaming: boolean
  hasNotified: boolean
  lastProgressAt: number
  isEnded: boolean
}

/**
 * Calls that may run on one connection, including streams and cancelled calls whose handler still runs. Beyond that, a
 * new call gets an error. The connection is not paused, so that cancellations are still read.
 */
// limit: count | calls at once | quota
const maxCalls = 1024

/**
 * When a client may repeat a rejected call. How long the running ones take is unknown, and a retry that comes too early
 * costs little.
 */
const retryAfterMs = 1000

/**
 * Milliseconds that must pass between a call's last progress notification and its response: official clients ignore
 * progress that they read in one chunk with the response, and on a busy machine that happens within about 2 ms.
 */
const progressGapMs = 5

export class CallRegistry {
  readonly #exchange: Exchange
  readonly #writer: MessageWriter
  readonly #settings: ServiceSettings
  readonly #context: CallContext
  /** Calls without a response. The client may not reuse their ids yet. Bounded by `maxCalls`. */
  readonly #callsById = new Map<RequestId, RunningCall>()
  /** Includes cancelled calls, for which no client waits any more. */
  readonly #runningCalls = new Set<RunningCall>()
  #isStopping = false
  #onIdle = (): void => {}

  constructor(exchange: Exchange, writer: MessageWriter, settings: ServiceSettings) {
    this.#exchange = exchange
    this.#writer = writer
    this.#settings = settings
    this.#context = createContext(writer)
  }

  /** Runs a call, or rejects it if it exceeds a limit. `handler` takes the place of the exchange. */
  run(request: RpcRequest, handler?: StreamHandler): void {
    const rejection = this.#findNewCallError(request.id)
    if (rejection === undefined) this.#runAccepted(request, handler)
    else this.#write(errorResponse(request.id, rejection))
  }

  /** Nothing more is sent for a cancelled call (basic/patterns/cancellation). */
  cancel(id: RequestId, reason: string | undefined): void {
    const call = this.#callsById.get(id)
    if (call === undefined) return
    this.#endCall(call)
    call.cancellation.cancel(new DOMException(reason ?? 'The client cancelled the request', 'AbortError'))
  }

  /** Asks every call to stop. Their responses are still sent. */
  stop(reason: unknown): void {
    this.#isStopping = true
    for (const call of this.#runningCalls) call.cancellation.cancel(reason)
  }

  waitForAllCalls(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve
      if (this.#runningCalls.size === 0) resolve()
    })
  }

  /** Answers the calls that are still running with errors. */
  rejectPendingCalls(): void {
    for (const call of this.#callsById.values()) this.#respond(call, errorResponse(call.id, stoppingError()))
  }

  #findNewCallError(id: RequestId): McpError | undefined {
    if (this.#callsById.has(id)) {
      const message = 'A request with this id is pending: give each request a unique id'
      return new McpError(errorCodes.invalidRequest, message)
    }
    if (this.#runningCalls.size < maxCalls) return undefined
    return quotaError({ limit: 'calls', max: maxCalls, retryAfterMs, advice: 'wait for one of them to end' })
  }

  #runAccepted(request: RpcRequest, handler: StreamHandler | undefined): void {
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
    this.#callsById.set(id, call)
    this.#runningCalls.add(call)
    const onCallError = (error: unknown): void => {
      if (!call.isEnded) this.#respond(call, errorResponse(id, this.#toCallError(call, error)))
      this.#deleteRunning(call)
    }
    try {
      this.#handle(call, request, handler)
        .then((response) => {
          this.#respond(call, response)
          this.#deleteRunning(call)
        })
        .catch(onCallError)
    } catch (error) {
      onCallError(error)
    }
  }

  #handle(call: RunningCall, request: RpcRequest, handler: StreamHandler | undefined): Promise<RpcResponse> {
    if (handler === undefined)
      return this.#exchange(
        request,
        this.#createCall(call, (message) => withRequestId(message, call.id)),
      )
    // The adapter for earlier revisions makes complete messages.
    const streamCall = this.#createCall(call, (message) => message)
    return handler(request, streamCall, (peerRequest) => {
      if (!call.isEnded) this.#writer.write(encodeMessage(peerRequest, this.#settings.log))
    })
  }

  #createCall(call: RunningCall, mapNotification: (message: RpcNotification) => RpcNotification): Call {
    const notify = (message: RpcNotification): void => this.#notify(call, mapNotification(message))
    const { principal } = this.#settings
    return withSignalOf({ principal, context: this.#context, notify }, call.cancellation)
  }

  // A call that rejects with the reason of the stop has not failed, so its error is not reported.
  #toCallError({ cancellation }: RunningCall, error: unknown): unknown {
    if (this.#isStopping && error === cancellation.reason) return stoppingError()
    this.#settings.onError(error)
    return error
  }

  #notify(call: RunningCall, message: RpcNotification): void {
    if (call.isEnded) return
    const { log, maxQueuedBytes, clock } = this.#settings
    const text = encodeMessage(message, log)
    if (this.#writer.getQueuedBytes() + text.length <= maxQueuedBytes) {
      call.hasNotified = true
      if (message.method === 'notifications/progress') call.lastProgressAt = clock.monotonicNow()
      this.#writer.write(text)
    } else if (call.isStreaming) this.#endSlowStream(call)
  }

  #endSlowStream(call: RunningCall): void {
    this.#endCall(call)
    this.#write(createCancelledNotification(call.id, 'The reader of the stream was too slow'))
    call.cancellation.cancel(new DOMException('The reader of the stream was too slow', 'AbortError'))
  }

  /**
   * Does nothing for a cancelled call. Throws, before anything is sent, if the response cannot be converted to JSON.
   */
  #respond(call: RunningCall, response: RpcResponse): void {
    if (call.isEnded) return
    const text = encodeMessage(response, this.#settings.log)
    this.#endCall(call)
    this.#writeResponseText(call, text)
    // basic/patterns/cancellation: a server ends a subscription by sending a cancellation. The response alone does not
    // end it.
    if (call.isStreaming && call.hasNotified) this.#write(createCancelledNotification(call.id))
  }

  #writeResponseText({ lastProgressAt }: RunningCall, text: string): void {
    const writer = this.#writer
    // Nearly every call sends no progress, so the clock need not be read.
    if (lastProgressAt === Number.NEGATIVE_INFINITY) return writer.write(text)
    // A handler that blocks the event loop keeps its progress from being written, however long ago it was reported.
    const elapsedMs = writer.hasPendingText() ? 0 : this.#settings.clock.monotonicNow() - lastProgressAt
    const pauseMs = progressGapMs - elapsedMs
    if (pauseMs > 0) writer.writeAfterPause(text, pauseMs)
    else writer.write(text)
  }

  #write(message: RpcNotification | RpcResponse): void {
    this.#writer.write(encodeMessage(message))
  }

  #endCall(call: RunningCall): void {
    call.isEnded = true
    this.#callsById.delete(call.id)
  }

  #deleteRunning(call: RunningCall): void {
    this.#runningCalls.delete(call)
    if (this.#runningCalls.size === 0) this.#onIdle()
  }
}

function createContext(writer: MessageWriter): CallContext {
  const call = withContext(createCall(), transportKey, 'stdio')
  return withContext(withContext(call, clientAddressKey, 'stdio'), backPressureKey, () => writer.waitForDrain()).context
}
