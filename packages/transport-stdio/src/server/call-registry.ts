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
  /** True if the call streams until one side ends it, as `subscriptions/listen` does. */
  readonly isStreaming: boolean
  /** True after the first notification of the call. */
  hasNotified: boolean
  /** The time of the last progress notification. */
  lastProgressAt: number
  /** True if no further message may be sent for the call. */
  isEnded: boolean
}

/**
 * The number of calls that may run on one connection, including streams and cancelled calls whose handler still runs.
 * If this limit is reached, a new call gets an error. The connection is not paused, so that cancellations are still
 * read.
 */
// limit: count | calls at once | quota
const maxCalls = 1024

/**
 * The time after which a client may repeat a rejected call. The time until a running call ends is unknown, and a retry
 * that is too early costs little.
 */
const retryAfterMs = 1000

/**
 * The minimum time in milliseconds between the last progress notification of a call and its response. Official clients
 * ignore progress that they read in one chunk with the response. On a busy machine a client reads messages within about
 * 2 ms as one chunk.
 */
const progressGapMs = 5

/** The calls of one connection. */
export class CallRegistry {
  readonly #exchange: Exchange
  readonly #writer: MessageWriter
  readonly #settings: ServiceSettings
  readonly #context: CallContext
  /** The calls without a response, by their ids. The client may not reuse these ids yet. */
  readonly #callsById = new Map<RequestId, RunningCall>()
  /** All running calls, including cancelled calls whose client no longer waits. */
  readonly #runningCalls = new Set<RunningCall>()
  #isStopping = false
  #onIdle = (): void => {}

  /** Creates an empty registry. The calls write their messages to `writer`. */
  constructor(exchange: Exchange, writer: MessageWriter, settings: ServiceSettings) {
    this.#exchange = exchange
    this.#writer = writer
    this.#settings = settings
    this.#context = createContext(writer)
  }

  /** Runs a call, or rejects it if it exceeds a limit. `handler` replaces the exchange if it is set. */
  run(request: RpcRequest, handler?: StreamHandler): void {
    const rejection = this.#findNewCallError(request.id)
    if (rejection === undefined) this.#runAccepted(request, handler)
    else this.#write(errorResponse(request.id, rejection))
  }

  /** Cancels a call. No further message is sent for the call (basic/patterns/cancellation). */
  cancel(id: RequestId, reason: string | undefined): void {
    const call = this.#callsById.get(id)
    if (call === undefined) return
    this.#endCall(call)
    call.cancellation.cancel(new DOMException(reason ?? 'The client cancelled the request', 'AbortError'))
  }

  /** Requests every call to stop. Their responses are still sent. */
  stop(reason: unknown): void {
    this.#isStopping = true
    for (const call of this.#runningCalls) call.cancellation.cancel(reason)
  }

  /** Resolves when no call is running. */
  waitForAllCalls(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve
      if (this.#runningCalls.size === 0) resolve()
    })
  }

  /** Sends error responses for the calls that are still running. */
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
    // The adapter for earlier revisions creates complete messages, which are sent unchanged.
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

  /** Ends the stream of a slow reader. The client is notified, so that it can open the stream again. */
  #endSlowStream(call: RunningCall): void {
    this.#endCall(call)
    this.#write(createCancelledNotification(call.id, 'The reader of the stream was too slow'))
    call.cancellation.cancel(new DOMException('The reader of the stream was too slow', 'AbortError'))
  }

  /**
   * Sends the response of a call, unless the call was cancelled. Throws, before anything is sent, if the response cannot
   * be converted to JSON.
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

  /** Ends a call for its client. Its handler may still run. */
  #endCall(call: RunningCall): void {
    call.isEnded = true
    this.#callsById.delete(call.id)
  }

  #deleteRunning(call: RunningCall): void {
    this.#runningCalls.delete(call)
    if (this.#runningCalls.size === 0) this.#onIdle()
  }
}

/**
 * Creates the context that all calls of a connection share. The address is fixed, because a connection has one peer.
 */
function createContext(writer: MessageWriter): CallContext {
  const call = withContext(createCall(), transportKey, 'stdio')
  return withContext(withContext(call, clientAddressKey, 'stdio'), backPressureKey, writer.waitForDrain).context
}
