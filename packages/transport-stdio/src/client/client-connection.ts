import { callListener, isCancelled, onCancel, offCancel, quoteText } from '@x/core'
import type { Call } from '@x/exchange'
import {
  encodeMessage,
  isRequest,
  isResponse,
  findMethodRow,
  parseMessage,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { createCancelledNotification, readCancellation } from '../request-notifications.ts'
import type { StreamPair } from '../close-streams.ts'
import { idFromExcerpt, type SkippedLine } from '../line-splitter.ts'
import { MessageWriter } from '../message-writer.ts'
import { readLines } from '../read-lines.ts'
import { StdioError, toUnsentError } from '../stdio-error.ts'
import type { ConnectionSettings } from './options.ts'
import { hasLogLevel, parseWireId, requestIdOf, withCallerId, withCallerIds, withWireId } from './wire-ids.ts'

interface UnansweredCall {
  readonly request: RpcRequest
  readonly call: Call
  readonly hasRequestedLogs: boolean
  readonly resolve: (response: RpcResponse) => void
  readonly reject: (reason: unknown) => void
  readonly cancel: (reason: unknown) => void
}

/** Calls over one pair of streams. Each gets an id that is unique on the connection (basic/transports/stdio). */
export class ClientConnection {
  readonly #writer: MessageWriter
  readonly #settings: ConnectionSettings
  // Bounded by the calls of the client that run.
  readonly #pendingCalls = new Map<number, UnansweredCall>()
  #lastId = 0
  #failure: { readonly error: unknown } | undefined

  /** No message arrives after the call of `onEnd`. Its `error` is set if the streams failed. */
  constructor(streams: StreamPair, settings: ConnectionSettings, onEnd: (error?: unknown) => void) {
    this.#settings = settings
    this.#writer = new MessageWriter(streams.output, { onFull: doNothing, onDrain: doNothing, onFailure: onEnd })
    readLines(streams.input, settings.maxLineBytes, {
      onLine: (text) => this.#receiveLine(text),
      onSkipped: (skippedLine) => this.#receiveSkippedLine(skippedLine),
      onEnd,
    })
  }

  /** Rejects with the reason of `call.signal`, or with the error of the connection. */
  send(request: RpcRequest, call: Call): Promise<RpcResponse> {
    return new Promise((resolve, reject) => {
      if (isCancelled(call)) return reject(call.signal.reason)
      if (this.#failure) return reject(toUnsentError(this.#failure.error))
      const id = this.#lastId + 1
      const text = encodeMessage(withWireId(request, id))
      this.#lastId = id
      const cancel = (reason: unknown): void => this.#cancelCall(id, reason)
      this.#pendingCalls.set(id, { request, call, hasRequestedLogs: hasLogLevel(request), resolve, reject, cancel })
      onCancel(call, cancel)
      this.#writer.write(text)
    })
  }

  notify(message: RpcNotification): void {
    this.#writer.write(encodeMessage(message))
  }

  /** Rejects all calls with `error`, pending and later ones. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    for (const id of this.#pendingCalls.keys()) this.#takePendingCall(id)?.reject(error)
    // The stream may be ended next, and takes nothing afterwards: what was cancelled in this tick would be lost.
    void this.#writer.flush()
  }

  /** True while a call is pending. */
  isBusy(): boolean {
    return this.#pendingCalls.size > 0
  }

  /** True if a pending call may have an effect. A method of an extension always counts. */
  mayAct(): boolean {
    return [...this.#pendingCalls.values()].some(({ request }) => {
      const row = findMethodRow(request.method)
      return row === undefined || row.hasEffects === true
    })
  }

  #cancelCall(id: number, reason: unknown): void {
    const pendingCall = this.#takePendingCall(id)
    if (pendingCall === undefined) return
    this.#writer.write(encodeMessage(createCancelledNotification(id, toPublicReason(reason))))
    pendingCall.reject(reason)
  }

  #takePendingCall(id: unknown): UnansweredCall | undefined {
    if (typeof id !== 'number') return undefined
    const pendingCall = this.#pendingCalls.get(id)
    if (pendingCall === undefined) return undefined
    this.#pendingCalls.delete(id)
    offCancel(pendingCall.call, pendingCall.cancel)
    return pendingCall
  }

  #receiveLine(text: string): void {
    let message: RpcMessage
    try {
      message = parseMessage(text, this.#settings.bounds)
    } catch (cause) {
      return this.#reportProblem(
        `a line is not a message: ${quoteText(text)}; a server writes its log to stderr, as with console.error`,
        cause,
      )
    }
    if (isResponse(message)) this.#receiveResponse(message)
    else if (isRequest(message)) this.#receiveRequest(message)
    else this.#receiveNotification(message)
  }

  #receiveRequest(request: RpcRequest): void {
    const { onRequest } = this.#settings
    // Not answered: a client of this revision sends no responses.
    if (onRequest === undefined) return this.#reportProblem(`the server sent a request: ${quoteText(request.method)}`)
    const answer = async (): Promise<RpcResponse | undefined> => onRequest(request)
    answer().then(
      (response) => {
        if (response !== undefined && this.#failure === undefined) this.#writer.write(encodeMessage(response))
      },
      (error: unknown) => this.#reportProblem(`the request ${quoteText(request.method)} got no answer`, error),
    )
  }

  #receiveResponse(response: RpcResponse): void {
    const id = parseWireId(response.id)
    const pendingCall = this.#takePendingCall(id)
    if (pendingCall !== undefined) return pendingCall.resolve(withCallerId(response, pendingCall.request.id))
    // May be the late response to a cancelled call.
    if (id !== undefined && id > 0 && id <= this.#lastId) return
    const problem =
      'error' in response
        ? `an error without a call: ${quoteText(response.error.message)}`
        : 'a response without a call'
    this.#reportProblem(problem)
  }

  #receiveNotification(message: RpcNotification): void {
    const cancellation = readCancellation(message)
    if (cancellation !== undefined) return this.#receiveCancelled(cancellation.requestId, cancellation.reason)
    const id = this.#findCallId(message)
    const pendingCall = id === undefined ? undefined : this.#pendingCalls.get(id)
    if (id === undefined || pendingCall === undefined) {
      // With a request id, it belongs to a call that has ended. Only one without goes to the host.
      if (requestIdOf(message) === undefined)
        callListener(this.#settings.onNotification, message, (error) =>
          this.#reportProblem('onNotification failed', error),
        )
      return
    }
    try {
      pendingCall.call.notify(withCallerIds(message, pendingCall.request))
    } catch (error) {
      this.#cancelCall(id, error)
    }
  }

  /**
   * A log message without a request id belongs to the one call that asked for logs. If several did, none gets it,
   * because they may be of different clients.
   */
  #findCallId(message: RpcNotification): number | undefined {
    const namedRequestId = requestIdOf(message)
    if (namedRequestId !== undefined) return parseWireId(namedRequestId)
    const loggingCalls = [...this.#pendingCalls].filter(([, { hasRequestedLogs }]) => hasRequestedLogs)
    return loggingCalls.length === 1 ? loggingCalls[0]?.[0] : undefined
  }

  #receiveCancelled(id: unknown, reason: string | undefined): void {
    const pendingCall = typeof id === 'number' ? this.#pendingCalls.get(id) : undefined
    if (pendingCall === undefined) return
    if (findMethodRow(pendingCall.request.method)?.isStreaming !== true) {
      return this.#reportProblem(`the server cancelled ${pendingCall.request.method}, which only a client may do`)
    }
    const reasonSuffix = reason === undefined ? '' : `: ${quoteText(reason)}`
    this.#takePendingCall(id)?.reject(new StdioError('ended', `The server ended the subscription${reasonSuffix}`))
  }

  #receiveSkippedLine(skippedLine: SkippedLine): void {
    const { maxLineBytes } = this.#settings
    const problem =
      skippedLine.kind === 'too_long' ? `a line is longer than ${maxLineBytes} bytes` : 'a line is not valid UTF-8'
    const pendingCall = this.#takePendingCall(idFromExcerpt(skippedLine))
    if (pendingCall === undefined) return this.#reportProblem(`${problem}: ${quoteText(skippedLine.head)}`)
    const code = skippedLine.kind === 'too_long' ? 'too_large' : 'protocol'
    pendingCall.reject(new StdioError(code, `The response cannot be read: ${problem}`))
  }

  #reportProblem(problem: string, cause?: unknown): void {
    this.#settings.onError(new StdioError('protocol', `Skipped a message: ${problem}`, { cause }))
  }
}

function doNothing(): void {}

// Only a string and the message of a `DOMException` reach the server: other errors may contain secrets.
function toPublicReason(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason.slice(0, 200)
  return reason instanceof DOMException ? reason.message.slice(0, 200) : undefined
}
