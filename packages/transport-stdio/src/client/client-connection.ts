import { callListener, isCancelled, onCancel, offCancel } from '@x/core'
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
import { StdioError } from '../stdio-error.ts'
import type { ConnectionSettings } from './options.ts'
import { hasLogLevel, parseWireId, requestIdOf, withCallerId, withCallerIds, withWireId } from './wire-ids.ts'

/** The calls over one pair of streams. */
export interface ClientConnection {
  /**
   * Sends a request and returns its response. Rejects with the reason of `call.signal`, or with the error of the
   * connection.
   */
  send(request: RpcRequest, call: Call): Promise<RpcResponse>
  /** Writes a notification. */
  notify(message: RpcNotification): void
  /** Rejects all pending and all later calls with `error`. */
  fail(error: unknown): void
  /** Returns true if a call is pending. */
  isBusy(): boolean
}

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

interface ConnectionState {
  readonly pendingCalls: Map<number, UnansweredCall>
  readonly writer: MessageWriter
  readonly settings: ConnectionSettings
  lastId: number
  failure: { readonly error: unknown } | undefined
}

/**
 * Creates a connection for concurrent calls over a pair of streams. Each call gets an id that is unique on the
 * connection (basic/transports/stdio).
 */
export function createClientConnection({ streams, settings, onEnd }: ClientConnectionDeps): ClientConnection {
  const events = { onFull: doNothing, onDrain: doNothing, onFailure: onEnd }
  const writer = createMessageWriter(streams.output, events)
  const state: ConnectionState = { pendingCalls: new Map(), writer, settings, lastId: 0, failure: undefined }
  readLines(streams.input, settings.maxLineBytes, {
    onLine: (text) => receiveLine(state, text),
    onSkipped: (skippedLine) => receiveSkippedLine(state, skippedLine),
    onEnd,
  })
  return {
    send: (request, call) => writeRequest(state, request, call),
    notify: (message) => writer.write(encodeMessage(message)),
    fail: (error) => {
      state.failure ??= { error }
      for (const id of state.pendingCalls.keys()) takePendingCall(state, id)?.reject(error)
    },
    isBusy: () => state.pendingCalls.size > 0,
  }
}

function doNothing(): void {}

function writeRequest(state: ConnectionState, request: RpcRequest, call: Call): Promise<RpcResponse> {
  return new Promise((resolve, reject) => {
    if (isCancelled(call)) return reject(call.signal.reason)
    if (state.failure) return reject(state.failure.error)
    const id = state.lastId + 1
    const text = encodeMessage(withWireId(request, id))
    state.lastId = id
    const cancel = (reason: unknown): void => cancelCall(state, id, reason)
    state.pendingCalls.set(id, { request, call, hasRequestedLogs: hasLogLevel(request), resolve, reject, cancel })
    onCancel(call, cancel)
    state.writer.write(text)
  })
}

/** Stops waiting for the response of a call, and notifies the server (basic/patterns/cancellation). */
function cancelCall(state: ConnectionState, id: number, reason: unknown): void {
  const pendingCall = takePendingCall(state, id)
  if (pendingCall === undefined) return
  state.writer.write(encodeMessage(createCancelledNotification(id, toPublicReason(reason))))
  pendingCall.reject(reason)
}

// Returns the reason that the server receives. Only a string and the message of a `DOMException` are sent, because
// other errors may contain secrets.
function toPublicReason(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason.slice(0, 200)
  return reason instanceof DOMException ? reason.message.slice(0, 200) : undefined
}

function takePendingCall({ pendingCalls }: ConnectionState, id: unknown): UnansweredCall | undefined {
  if (typeof id !== 'number') return undefined
  const pendingCall = pendingCalls.get(id)
  if (pendingCall === undefined) return undefined
  pendingCalls.delete(id)
  offCancel(pendingCall.call, pendingCall.cancel)
  return pendingCall
}

function receiveLine(state: ConnectionState, text: string): void {
  let message: RpcMessage
  try {
    message = parseMessage(text, state.settings.bounds)
  } catch (cause) {
    return reportProblem(
      state,
      `a line is not a message: ${toExcerpt(text)}; a server writes its log to stderr, as with console.error`,
      cause,
    )
  }
  if (isResponse(message)) receiveResponse(state, message)
  else if (isRequest(message)) receiveRequest(state, message)
  else receiveNotification(state, message)
}

function receiveRequest(state: ConnectionState, request: RpcRequest): void {
  const { onRequest } = state.settings
  // The server gets no response to its request, because a client of this revision sends no responses.
  if (onRequest === undefined) return reportProblem(state, `the server sent a request: ${toExcerpt(request.method)}`)
  const answer = async (): Promise<RpcResponse | undefined> => onRequest(request)
  answer().then(
    (response) => {
      if (response !== undefined && state.failure === undefined) state.writer.write(encodeMessage(response))
    },
    (error: unknown) => reportProblem(state, `the request ${toExcerpt(request.method)} got no answer`, error),
  )
}

function receiveResponse(state: ConnectionState, response: RpcResponse): void {
  const id = parseWireId(response.id)
  const pendingCall = takePendingCall(state, id)
  if (pendingCall !== undefined) return pendingCall.resolve(withCallerId(response, pendingCall.request.id))
  // This may be the late response to a cancelled call, which is ignored.
  if (id !== undefined && id > 0 && id <= state.lastId) return
  const problem =
    'error' in response ? `an error without a call: ${toExcerpt(response.error.message)}` : 'a response without a call'
  reportProblem(state, problem)
}

function receiveNotification(state: ConnectionState, message: RpcNotification): void {
  const cancellation = readCancellation(message)
  if (cancellation !== undefined) return receiveCancelled(state, cancellation.requestId, cancellation.reason)
  const id = findCallId(state, message)
  const pendingCall = id === undefined ? undefined : state.pendingCalls.get(id)
  if (id === undefined || pendingCall === undefined) {
    // A notification with a request id belongs to a call that has ended, and is ignored. A notification without a
    // request id is passed to the host.
    if (requestIdOf(message) === undefined) callListener(state.settings.onNotification, message, reportFailure(state))
    return
  }
  try {
    pendingCall.call.notify(withCallerIds(message, pendingCall.request))
  } catch (error) {
    cancelCall(state, id, error)
  }
}

/**
 * Finds the call that a notification belongs to. A log message without a request id belongs to the only call that has
 * requested logs. If several calls have requested logs, the message belongs to none of them, because they may belong to
 * different clients.
 */
function findCallId({ pendingCalls }: ConnectionState, message: RpcNotification): number | undefined {
  const namedRequestId = requestIdOf(message)
  if (namedRequestId !== undefined) return parseWireId(namedRequestId)
  const loggingCalls = [...pendingCalls].filter(([, { hasRequestedLogs }]) => hasRequestedLogs)
  return loggingCalls.length === 1 ? loggingCalls[0]?.[0] : undefined
}

function receiveCancelled(state: ConnectionState, id: unknown, reason: string | undefined): void {
  const pendingCall = typeof id === 'number' ? state.pendingCalls.get(id) : undefined
  if (pendingCall === undefined) return
  if (findMethodRow(pendingCall.request.method)?.isStreaming !== true) {
    return reportProblem(state, `the server cancelled ${pendingCall.request.method}, which only a client may do`)
  }
  const reasonSuffix = reason === undefined ? '' : `: ${toExcerpt(reason)}`
  takePendingCall(state, id)?.reject(new StdioError('ended', `The server ended the subscription${reasonSuffix}`))
}

function receiveSkippedLine(state: ConnectionState, skippedLine: SkippedLine): void {
  const { maxLineBytes } = state.settings
  const problem =
    skippedLine.kind === 'too_long' ? `a line is longer than ${maxLineBytes} bytes` : 'a line is not valid UTF-8'
  const pendingCall = takePendingCall(state, idFromExcerpt(skippedLine))
  if (pendingCall === undefined) return reportProblem(state, `${problem}: ${toExcerpt(skippedLine.head)}`)
  const code = skippedLine.kind === 'too_long' ? 'too_large' : 'protocol'
  pendingCall.reject(new StdioError(code, `The response cannot be read: ${problem}`))
}

function reportProblem({ settings }: ConnectionState, problem: string, cause?: unknown): void {
  settings.onError(new StdioError('protocol', `Skipped a message: ${problem}`, { cause }))
}

function reportFailure(state: ConnectionState): (error: unknown) => void {
  return (error) => reportProblem(state, 'onNotification failed', error)
}

function toExcerpt(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
