import type { HttpLimits, HttpReply } from '@x/exchange'
import { encodeMessage, type RequestId, type RpcMessage, type RpcResponse } from '@x/schema'
import { isLimitError } from '@x/core'
import type { ResumableStream } from '../session/session-state.ts'
import { createRequestSuffix, waitingMark, type WrittenEvent } from './event-id.ts'

export interface CallStreamOptions {
  /** Identifies the stream in event ids. */
  readonly id: string
  /** True if the client can resume the stream with `Last-Event-ID`. Otherwise the calls end with the connection. */
  readonly isResumable: boolean
  /** True if the stream begins with an event that has an id and no data (2025-11-25). */
  readonly hasPrimingEvent: boolean
  /** After this many responses the stream ends: one, or one for each request of a batch. */
  readonly responseCount: number
  /** True if responses that are not streamed are sent as a JSON array. */
  readonly isBatch: boolean
  readonly resumeWindowMs: number
  readonly closeAfterMs: number
  readonly limits: Pick<HttpLimits, 'maxQueuedBytes' | 'keepAliveMs' | 'schedule' | 'log'>
  /**
   * Counts bytes that are stored for a client that has disconnected, until the returned function releases them. Throws
   * `LimitError` if its caller has too many.
   */
  takeBytes(byteCount: number): () => void
  /**
   * Called when the last response of a resumable stream was written to a connection, with all stored events. It may not
   * have reached the client, because the runtime reports a broken connection late.
   */
  onFinish(events: readonly WrittenEvent[]): void
  /** Called when the client has disconnected, and the stream waits for it. */
  onDetach(): void
  /** Called when the stream has ended, because it was answered or its client did not reconnect in time. */
  onEnd(): void
  /** Above 1 for a stream that another instance began. */
  readonly firstEventNumber: number
  /** Each event id then contains the request's id. */
  readonly requestIdInEvents?: RequestId | undefined
}

/** HTTP status and headers of a response that is not streamed. */
export interface ResponseHead {
  readonly status: number
  readonly headers?: readonly string[]
}

interface StreamEvent extends WrittenEvent {
  readonly mayBeLost: boolean
}

const retryMs = 1000

/**
 * Answers one POST. A message before the response makes it an event stream; otherwise it is a JSON body. It may outlive
 * several connections. Without `firstReply` it waits for a client that reconnects.
 */
export class CallStream implements ResumableStream {
  readonly id: string
  readonly #options: CallStreamOptions
  readonly #suffix: string
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
  /** True while the stream's call waits for answers that any instance may take. */
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
    // A call that sends nothing for a long time becomes a stream, whose comments show the client that the call is still
    // running.
    this.#cancelTimers.push(limits.schedule(() => this.#open(), limits.keepAliveMs))
  }

  get isDetached(): boolean {
    return this.#reply === undefined && this.#phase !== 'ended'
  }

  /** Number of the last event. */
  get eventCount(): number {
    return this.#lastEventNumber
  }

  /** Event of the last response, which may not have reached the client. Undefined before all responses were written. */
  get lastResponse(): WrittenEvent | undefined {
    return this.#openRequestCount <= 0 ? this.#response : undefined
  }

  #encode(message: RpcMessage): string {
    return encodeMessage(message, this.#options.limits.log)
  }

  /** Sends a message before the response. If `mayBeLost` is true, it is dropped when the client reads too slowly. */
  send(message: RpcMessage, mayBeLost: boolean): void {
    if (this.#phase === 'ended') return
    this.#open()
    this.#write(this.#encode(message), mayBeLost)
  }

  /**
   * Sends a question of a round that other instances may continue. A mark in the event id says that any instance may
   * continue the stream.
   */
  ask(message: RpcMessage): void {
    if (this.#phase === 'ended') return
    this.#open()
    this.isAsking = true
    this.#write(this.#encode(message), false, waitingMark)
  }

  /** Notes that the call waits for answers that any instance may take. */
  beginAsking(): void {
    this.isAsking = true
  }

  /**
   * Notes that the call no longer waits. If its questions had a `state`, sends an event without data, so that the last
   * event id has no mark.
   */
  endAsking(hasStates: boolean, minEventNumber: number): void {
    if (this.isAsking) this.#lastEventNumber = Math.max(this.#lastEventNumber, minEventNumber)
    this.isAsking = false
    if (hasStates && this.#phase === 'streaming' && this.#options.hasPrimingEvent) this.#write('', true)
  }

  /** Starts the stream's time again, because its reader is at another instance or its call has ended. */
  extendWindow({ hasRemoteReader }: { readonly hasRemoteReader: boolean }): void {
    if (!this.isDetached) return
    this.hasRemoteReader = hasRemoteReader
    this.#startWindow()
  }

  /** Sends a response; the last one ends the stream. Returns its event, or undefined if it is not streamed. */
  respond(response: RpcResponse, head: ResponseHead = { status: 200 }): WrittenEvent | undefined {
    if (this.#phase === 'ended') return undefined
    this.#openRequestCount -= 1
    let writtenEvent: WrittenEvent | undefined
    if (this.#phase === 'streaming') writtenEvent = this.#write(this.#encode(response), false)
    else this.#responses.push(response)
    this.#response = writtenEvent
    if (this.#openRequestCount <= 0) this.#finish(head)
    return writtenEvent
  }

  /** Notes that a request will not be answered, because it was cancelled. */
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
   * Continues the stream on another connection, after the last event that the client received (basic/transports,
   * resumability).
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
    // Only the connection is closed. The stream continues, because the client polls (SEP-1699).
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
    const { isResumable, onDetach } = this.#options
    if (!isResumable) return this.#end()
    this.#startWindow()
    if (this.#storedLength > 0 && !this.#takeBytes(this.#storedLength)) return this.#end()
    onDetach()
  }

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
    for (const response of this.#responses.splice(0)) this.#write(this.#encode(response), false)
  }

  #write(data: string, mayBeLost: boolean, idMark = ''): WrittenEvent {
    const { isResumable, limits } = this.#options
    this.#lastEventNumber += 1
    const idLine = isResumable ? `id: ${this.id}.${this.#lastEventNumber}${idMark}${this.#suffix}\n` : ''
    const text = `${idLine}data: ${data}\n\n`
    const queuedBytes = this.#reply?.countQueuedBytes() ?? 0
    // Characters instead of bytes: this limit only bounds memory and need not be exact.
    const event = { number: this.#lastEventNumber, text, mayBeLost }
    if (mayBeLost && queuedBytes + text.length > limits.maxQueuedBytes) return event
    this.#reply?.write(text)
    if (isResumable && this.#takeBytes(text.length)) this.#remember(event)
    return event
  }

  /** If the client is disconnected, counts stored bytes in the quota of its caller. False if the quota is exhausted. */
  #takeBytes(byteCount: number): boolean {
    if (this.#reply !== undefined) return true
    try {
      this.#releaseBytes.push(this.#options.takeBytes(byteCount))
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
    const encodedResponses = this.#responses.map((response) => this.#encode(response))
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
