import type { HttpLimits, HttpReply } from '@x/exchange'
import { encodeMessage, type RequestId, type RpcMessage, type RpcResponse } from '@x/schema'
import { isLimitError } from '@x/core'
import type { ResumableStream } from '../session/session-state.ts'
import { createRequestSuffix, waitingMark, type WrittenEvent } from './event-id.ts'

/** Options of the stream that answers a POST. */
export interface CallStreamOptions {
  /** Identifies the stream in event ids. */
  readonly id: string
  /** True if the client can resume the stream with `Last-Event-ID`. Otherwise the calls end with the connection. */
  readonly isResumable: boolean
  /** True if the stream begins with an event that has an id and no data (2025-11-25). */
  readonly hasPrimingEvent: boolean
  /** The number of responses after which the stream ends: one, or one for each request of a batch. */
  readonly responseCount: number
  /** True if responses that are not streamed are sent as a JSON array. */
  readonly isBatch: boolean
  readonly resumeWindowMs: number
  readonly closeAfterMs: number
  readonly limits: Pick<HttpLimits, 'maxQueuedBytes' | 'keepAliveMs' | 'schedule'>
  /**
   * Counts bytes that are stored for a client that has disconnected. Returns a function that releases them. Throws
   * `LimitError` if its caller has too many.
   */
  takeBytes(byteCount: number): () => void
  /**
   * Called when the last response of a resumable stream was written to a connection, with all stored events. The client
   * may not have received them, because the runtime reports a broken connection late.
   */
  onFinish(events: readonly WrittenEvent[]): void
  /** Called when the client has disconnected, and the stream waits for it. */
  onDetach(): void
  /** Called when the stream has ended, because it was answered or its client did not reconnect in time. */
  onEnd(): void
  /** The number of the first event. It is above 1 for a stream that another instance began. */
  readonly firstEventNumber: number
  /** The id of the request, which each event id then contains. */
  readonly requestIdInEvents?: RequestId | undefined
}

/** The HTTP status and headers of a response that is not streamed. */
export interface ResponseHead {
  readonly status: number
  readonly headers?: readonly string[]
}

interface StreamEvent extends WrittenEvent {
  readonly mayBeLost: boolean
}

/** Milliseconds that a client is asked to wait before it reconnects. */
const retryMs = 1000

/**
 * The answer to one POST. It becomes an event stream if a message is sent before the response, and is a JSON body
 * otherwise. It may outlive several connections. Without `firstReply` it waits for a client that reconnects.
 */
export class CallStream implements ResumableStream {
  readonly id: string
  readonly #options: CallStreamOptions
  /** The end of each event id. */
  readonly #suffix: string
  /** The current connection. Undefined while the client is disconnected. */
  #reply: HttpReply | undefined
  #phase: 'waiting' | 'streaming' | 'ended' = 'waiting'
  #openRequestCount: number
  #lastEventNumber = 0
  #storedLength = 0
  #events: StreamEvent[] = []
  readonly #responses: RpcResponse[] = []
  #cancelTimers: (() => void)[] = []
  #releaseBytes: (() => void)[] = []
  #response: WrittenEvent | undefined
  /** True while the call of the stream waits for answers that any instance may take. */
  isAsking = false
  /** True if the client reads the stream at another instance. */
  hasRemoteReader = false

  constructor(firstReply: HttpReply | undefined, options: CallStreamOptions) {
    this.id = options.id
    this.#options = options
    this.#suffix = options.requestIdInEvents === undefined ? '' : createRequestSuffix(options.requestIdInEvents)
    this.#openRequestCount = options.responseCount
    this.#lastEventNumber = options.firstEventNumber - 1
    if (firstReply === undefined) {
      this.#phase = 'streaming'
      return
    }
    this.#attach(firstReply)
    const { limits, closeAfterMs, hasPrimingEvent } = options
    if (hasPrimingEvent && closeAfterMs !== Number.POSITIVE_INFINITY) return
    if (limits.keepAliveMs === Number.POSITIVE_INFINITY) return
    // A call that sends nothing for a long time becomes a stream. The comments on it show the client that the call is
    // still running.
    this.#cancelTimers.push(limits.schedule(() => this.#open(), limits.keepAliveMs))
  }

  get isDetached(): boolean {
    return this.#reply === undefined && this.#phase !== 'ended'
  }

  /** The number of the last event. */
  get eventCount(): number {
    return this.#lastEventNumber
  }

  /**
   * The event of the last response, which the client may not have received. Undefined before all responses were
   * written.
   */
  get lastResponse(): WrittenEvent | undefined {
    return this.#openRequestCount <= 0 ? this.#response : undefined
  }

  /**
   * Sends a message before the response. If `mayBeLost` is true, the message is dropped when the client reads too
   * slowly.
   */
  send(message: RpcMessage, mayBeLost: boolean): void {
    if (this.#phase === 'ended') return
    this.#open()
    this.#write(encodeMessage(message), mayBeLost)
  }

  /**
   * Sends a question of a round that other instances may continue. The mark in the event id shows that any instance may
   * continue the stream.
   */
  ask(message: RpcMessage): void {
    if (this.#phase === 'ended') return
    this.#open()
    this.isAsking = true
    this.#write(encodeMessage(message), false, waitingMark)
  }

  /** Records that the call waits for answers that any instance may take. */
  beginAsking(): void {
    this.isAsking = true
  }

  /**
   * Records that the call no longer waits. If its questions had a `state`, sends an event without data, so that the
   * last event id has no mark.
   */
  endAsking(hasStates: boolean, minEventNumber: number): void {
    if (this.isAsking) this.#lastEventNumber = Math.max(this.#lastEventNumber, minEventNumber)
    this.isAsking = false
    if (hasStates && this.#phase === 'streaming' && this.#options.hasPrimingEvent) this.#write('', true)
  }

  /**
   * Restarts the time for which the stream is kept, because its reader is at another instance or its call has ended.
   */
  extendWindow({ hasRemoteReader }: { readonly hasRemoteReader: boolean }): void {
    if (!this.isDetached) return
    this.hasRemoteReader = hasRemoteReader
    this.#startWindow()
  }

  /**
   * Sends a response. The last response ends the stream. Returns the event of the response, or undefined if it is not
   * streamed.
   */
  respond(response: RpcResponse, head: ResponseHead = { status: 200 }): WrittenEvent | undefined {
    if (this.#phase === 'ended') return undefined
    this.#openRequestCount -= 1
    let writtenEvent: WrittenEvent | undefined
    if (this.#phase === 'streaming') writtenEvent = this.#write(encodeMessage(response), false)
    else this.#responses.push(response)
    this.#response = writtenEvent
    if (this.#openRequestCount <= 0) this.#finish(head)
    return writtenEvent
  }

  /** Records that a request will not be answered, because it was cancelled. */
  skipResponse(): void {
    if (this.#phase === 'ended') return
    this.#openRequestCount -= 1
    if (this.#openRequestCount <= 0) this.#finish({ status: 200 })
  }

  abandon(): void {
    this.#end()
  }

  /** Ends the stream here. The client resumes it at another instance. */
  release(): void {
    if (this.#phase === 'ended') return
    this.#open()
    this.#reply?.write(`retry: ${retryMs}\n\n`)
    this.#end()
  }

  /**
   * Continues the stream on another connection. Sends the events after the last one that the client received
   * (basic/transports, resumability).
   */
  resume(reply: HttpReply, lastEventNumber: number): void {
    const replacedReply = this.#reply
    this.#reply = undefined
    replacedReply?.end()
    this.#stopWindow()
    this.hasRemoteReader = false
    this.#phase = 'streaming'
    this.#attach(reply)
    reply.open()
    if (this.#options.closeAfterMs !== Number.POSITIVE_INFINITY) reply.write(`retry: ${retryMs}\n\n`)
    for (const { number, text } of this.#events) if (number > lastEventNumber) reply.write(text)
    if (this.#openRequestCount <= 0) this.#endDelivered()
  }

  #attach(reply: HttpReply): void {
    const { closeAfterMs, hasPrimingEvent, limits } = this.#options
    this.#reply = reply
    reply.onClose(() => {
      if (this.#reply === reply) this.#detach()
    })
    if (!hasPrimingEvent || closeAfterMs === Number.POSITIVE_INFINITY) return
    // The connection is closed, but the stream continues, because the client polls (SEP-1699).
    const cancel = limits.schedule(() => {
      this.#open()
      if (this.#reply !== reply) return
      this.#detach()
      reply.end()
    }, closeAfterMs)
    this.#cancelTimers.push(cancel)
  }

  #detach(): void {
    if (this.#phase === 'ended') return
    this.#reply = undefined
    const { isResumable, takeBytes, onDetach } = this.#options
    if (!isResumable) return this.#end()
    this.#startWindow()
    try {
      if (this.#storedLength > 0) this.#releaseBytes.push(takeBytes(this.#storedLength))
    } catch (error) {
      if (!isLimitError(error)) throw error
      return this.#end()
    }
    onDetach()
  }

  /** Ends the stream after `resumeWindowMs`, unless the client resumes it before. */
  #startWindow(): void {
    const { resumeWindowMs, limits } = this.#options
    for (const cancel of this.#cancelTimers.splice(0)) cancel()
    this.#cancelTimers.push(limits.schedule(() => this.#end(), resumeWindowMs))
  }

  #stopWindow(): void {
    for (const cancel of this.#cancelTimers.splice(0)) cancel()
    for (const release of this.#releaseBytes.splice(0)) release()
  }

  #open(): void {
    if (this.#phase !== 'waiting') return
    const { hasPrimingEvent, closeAfterMs } = this.#options
    this.#phase = 'streaming'
    this.#reply?.open()
    if (hasPrimingEvent) {
      const retryLine = closeAfterMs === Number.POSITIVE_INFINITY ? '' : `retry: ${retryMs}\n`
      this.#reply?.write(`id: ${this.id}.0${this.#suffix}\n${retryLine}data: \n\n`)
    }
    for (const response of this.#responses.splice(0)) this.#write(encodeMessage(response), false)
  }

  #write(data: string, mayBeLost: boolean, idMark = ''): WrittenEvent {
    const { isResumable, limits } = this.#options
    this.#lastEventNumber += 1
    const idLine = isResumable ? `id: ${this.id}.${this.#lastEventNumber}${idMark}${this.#suffix}\n` : ''
    const text = `${idLine}data: ${data}\n\n`
    const queuedBytes = this.#reply?.countQueuedBytes() ?? 0
    // Characters are counted instead of bytes, because the limit only bounds memory and need not be exact.
    const event = { number: this.#lastEventNumber, text, mayBeLost }
    if (mayBeLost && queuedBytes + text.length > limits.maxQueuedBytes) return event
    this.#reply?.write(text)
    if (isResumable && this.#isCountable(event)) this.#remember(event)
    return event
  }

  /**
   * If the client is disconnected, counts an event in the quota of its caller. Returns false if the quota is exhausted.
   */
  #isCountable({ text }: StreamEvent): boolean {
    if (this.#reply !== undefined) return true
    try {
      this.#releaseBytes.push(this.#options.takeBytes(text.length))
      return true
    } catch (error) {
      if (!isLimitError(error)) throw error
      return false
    }
  }

  #remember(event: StreamEvent): void {
    const { maxQueuedBytes } = this.#options.limits
    this.#events.push(event)
    this.#storedLength += event.text.length
    while (this.#storedLength > maxQueuedBytes) {
      const eventIndex = this.#events.findIndex(({ mayBeLost }) => mayBeLost)
      if (eventIndex === -1) return
      const [lostEvent] = this.#events.splice(eventIndex, 1)
      this.#storedLength -= lostEvent?.text.length ?? 0
    }
  }

  #finish({ status, headers = [] }: ResponseHead): void {
    const reply = this.#reply
    if (this.#phase === 'streaming') {
      // Events that the client has not received are kept until it resumes the stream, or until `resumeWindowMs` has
      // passed.
      if (reply !== undefined) this.#endDelivered()
      return
    }
    if (reply === undefined) return this.#end()
    const [firstResponse] = this.#responses
    const { isBatch } = this.#options
    const encodedResponses = this.#responses.map((response) => encodeMessage(response))
    this.#phase = 'ended'
    if (firstResponse === undefined) reply.send({ status: 202 })
    else
      reply.send({ status, headers, body: isBatch ? `[${encodedResponses.join(',')}]` : (encodedResponses[0] ?? '') })
    this.#release()
  }

  #endDelivered(): void {
    if (this.#events.length > 0) this.#options.onFinish(this.#events)
    this.#end()
  }

  #end(): void {
    if (this.#phase === 'ended') return
    const phase = this.#phase
    this.#phase = 'ended'
    if (phase === 'streaming') this.#reply?.end()
    else this.#reply?.send({ status: 202 })
    this.#release()
  }

  #release(): void {
    this.#stopWindow()
    this.#events = []
    this.#reply = undefined
    this.#options.onEnd()
  }
}
