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
import { type MessageWriter, createMessageWriter } from '../message-writer.ts'
import { readLines } from '../read-lines.ts'
import { StdioError, toUnsentError } from '../stdio-error.ts'
import type { ConnectionSettings } from './options.ts'
import { hasLogLevel, parseWireId, requestIdOf, withCallerId, withCallerIds, withWireId } from './wire-ids.ts'

/** The dependencies of a connection. */
export interface ClientConnectionDeps {
  readonly streams: StreamPair
  readonly settings: ConnectionSettings
  /** Called when the server has closed its streams or they have failed. No message arrives afterwards. */
  readonly onEnd: (error?: unknown) => void
}

interface UnansweredCall {
  readonly request: RpcRequest
  readonly call: Call
  readonly hasRequestedLogs: boolean
  readonly resolve: (response: RpcResponse) => void
  readonly reject: (reason: unknown) => void
  readonly cancel: (reason: unknown) => void
}

/**
 * The calls over one pair of streams. Each call gets an id that is unique on the connection (basic/transports/stdio).
 */
export class ClientConnection {
  readonly #writer: MessageWriter
  readonly #settings: ConnectionSettings
  readonly #pendingCalls = new Map<number, UnansweredCall>()
  #lastId = 0
  #failure: { readonly error: unknown } | undefined

  constructor({ streams, settings, onEnd }: ClientConnectionDeps) {
    this.#settings = settings
    this.#writer = createMessageWriter(streams.output, { onFull: doNothing, onDrain: doNothing, onFailure: onEnd })
    readLines(streams.input, settings.maxLineBytes, {
      onLine: (text) => this.#receiveLine(text),
      onSkipped: (skippedLine) => this.#receiveSkippedLine(skippedLine),
      onEnd,
    })
  }

  /**
   * Sends a request and returns its response. Rejects with the reason of `call.signal`, or with the error of the
   * connection.
   */
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

  /** Writes a notification. */
  notify(message: RpcNotification): void {
    this.#writer.write(encodeMessage(message))
  }

  /** Rejects all pending and all later calls with `error`. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    for (const id of this.#pendingCalls.keys()) this.#takePendingCall(id)?.reject(error)
  }

  /** Returns true if a call is pending. */
  isBusy(): boolean {
    return this.#pendingCalls.size > 0
  }

  /** Returns true if a pending call may have an effect. Methods of extensions may have one. */
  mayAct(): boolean {
    return [...this.#pendingCalls.values()].some(({ request }) => {
      const row = findMethodRow(request.method)
      return row === undefined || row.hasEffects === true
    })
  }

  /** Stops waiting for the response of a call, and notifies the server (basic/patterns/cancellation). */
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
    // The server gets no response to its request, because a client of this revision sends no responses.
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
    // This may be the late response to a cancelled call, which is ignored.
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
      // A notification with a request id belongs to a call that has ended, and is ignored. A notification without a
      // request id is passed to the host.
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
   * Finds the call that a notification belongs to. A log message without a request id belongs to the only call that has
   * requested logs. If several calls have requested logs, the message belongs to none of them, because they may belong to
   * different clients.
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

// Returns the reason that the server receives. Only a string and the message of a `DOMException` are sent, because
// other errors may contain secrets.
function toPublicReason(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason.slice(0, 200)
  return reason instanceof DOMException ? reason.message.slice(0, 200) : undefined
}
