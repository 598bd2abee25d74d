import {
  type Call,
  encodeMessage,
  isRequest,
  isResponse,
  methodRow,
  cancelReason,
  isCancelled,
  offCancel,
  onCancel,
  parseMessage,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { cancelled, readCancelled } from '../cancelled.ts'
import type { StreamPair } from '../close-streams.ts'
import { excerptId } from '../excerpt-id.ts'
import type { LineFlaw } from '../lines.ts'
import { type MessageWriter, messageWriter } from '../message-writer.ts'
import { readLines } from '../read-lines.ts'
import { StdioError } from '../stdio-error.ts'
import type { LinkSettings } from './options.ts'
import { asksForLogs, namedId, withCallerId, withCallerIds, withWireId } from './wire-ids.ts'

/** The calls over one pair of streams. */
export interface Link {
  /** Sends a request and gives its answer; rejects with `call.signal.reason`, or with what the link failed of. */
  send(request: RpcRequest, call: Call): Promise<RpcResponse>
  /** Rejects what is under way, and everything from here on. */
  fail(error: unknown): void
  /** Whether an answer is waited for. */
  isBusy(): boolean
}

/** What a link is made of. */
export interface LinkParts {
  readonly streams: StreamPair
  readonly settings: LinkSettings
  /** The server's end of the streams is closed, or they have failed; nothing more comes. */
  readonly onEnd: (error?: unknown) => void
}

interface PendingCall {
  readonly request: RpcRequest
  readonly call: Call
  readonly logs: boolean
  readonly resolve: (response: RpcResponse) => void
  readonly reject: (reason: unknown) => void
  readonly cancel: () => void
}

interface LinkState {
  readonly pending: Map<number, PendingCall>
  readonly writer: MessageWriter
  readonly settings: LinkSettings
  lastId: number
  failure: { readonly error: unknown } | undefined
}

/** Carries calls over a pair of streams: many at once, each under an id of the link's own (basic/transports/stdio). */
export function createLink({ streams, settings, onEnd }: LinkParts): Link {
  const events = { onFull: ignore, onDrain: ignore, onFailure: onEnd }
  const writer = messageWriter(streams.output, events)
  const state: LinkState = { pending: new Map(), writer, settings, lastId: 0, failure: undefined }
  readLines(streams.input, settings.maxLineBytes, {
    onLine: (text) => receive(state, text),
    onFlaw: (flaw) => receiveFlaw(state, flaw),
    onEnd,
  })
  return {
    send: (request, call) => send(state, request, call),
    fail: (error) => {
      state.failure ??= { error }
      for (const id of state.pending.keys()) settle(state, id)?.reject(error)
    },
    isBusy: () => state.pending.size > 0,
  }
}

function ignore(): void {}

function send(state: LinkState, request: RpcRequest, call: Call): Promise<RpcResponse> {
  return new Promise((resolve, reject) => {
    if (isCancelled(call)) return reject(cancelReason(call))
    if (state.failure) return reject(state.failure.error)
    const id = state.lastId + 1
    const text = encodeMessage(withWireId(request, id))
    state.lastId = id
    const cancel = (): void => abandon(state, id, cancelReason(call))
    state.pending.set(id, { request, call, logs: asksForLogs(request), resolve, reject, cancel })
    onCancel(call, cancel)
    state.writer.write(text)
  })
}

/** Stops waiting for a call and says so to the server (basic/patterns/cancellation). */
function abandon(state: LinkState, id: number, reason: unknown): void {
  const pending = settle(state, id)
  if (pending === undefined) return
  state.writer.write(encodeMessage(cancelled(id, spoken(reason))))
  pending.reject(reason)
}

// An error is for this side; a text, and what the platform says of a signal, are harmless.
function spoken(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason.slice(0, 200)
  return reason instanceof DOMException ? reason.message.slice(0, 200) : undefined
}

function settle({ pending }: LinkState, id: unknown): PendingCall | undefined {
  if (typeof id !== 'number') return undefined
  const call = pending.get(id)
  if (call === undefined) return undefined
  pending.delete(id)
  offCancel(call.call, call.cancel)
  return call
}

function receive(state: LinkState, text: string): void {
  let message: RpcMessage
  try {
    message = parseMessage(text, state.settings.bounds)
  } catch (cause) {
    return report(state, `a line is no message: ${excerpt(text)}`, cause)
  }
  if (isResponse(message)) receiveResponse(state, message)
  // A client has no response to give, so a request stays without one.
  else if (isRequest(message)) report(state, `the server sent a request: ${excerpt(message.method)}`)
  else receiveNotification(state, message)
}

function receiveResponse(state: LinkState, response: RpcResponse): void {
  const { id } = response
  const pending = settle(state, id)
  if (pending !== undefined) return pending.resolve(withCallerId(response, pending.request.id))
  // The answer of a call that was cancelled may come late; nobody waits for it.
  if (typeof id === 'number' && id > 0 && id <= state.lastId) return
  const what =
    'error' in response ? `an error without a call: ${excerpt(response.error.message)}` : 'an answer without a call'
  report(state, what)
}

function receiveNotification(state: LinkState, message: RpcNotification): void {
  const cancellation = readCancelled(message)
  if (cancellation !== undefined) return receiveCancelled(state, cancellation.requestId, cancellation.reason)
  const id = callOf(state, message)
  const pending = id === undefined ? undefined : state.pending.get(id)
  if (id === undefined || pending === undefined) {
    // What names a call that has ended came late; what names none may be of interest to somebody.
    if (namedId(message) === undefined) state.settings.onNotification(message)
    return
  }
  try {
    pending.call.notify(withCallerIds(message, pending.request))
  } catch (error) {
    abandon(state, id, error)
  }
}

/**
 * The call that a notification is about. A log message of a server that does not name it goes to the one call that asked
 * for logs; when there are several, none of them is guessed, because they may be of different clients.
 */
function callOf({ pending }: LinkState, message: RpcNotification): number | undefined {
  const named = namedId(message)
  if (named !== undefined) return typeof named === 'number' ? named : undefined
  const asking = [...pending].filter(([, { logs }]) => logs)
  return asking.length === 1 ? asking[0]?.[0] : undefined
}

function receiveCancelled(state: LinkState, id: unknown, reason: string | undefined): void {
  const pending = typeof id === 'number' ? state.pending.get(id) : undefined
  if (pending === undefined) return
  if (methodRow(pending.request.method)?.streams !== true) {
    return report(state, `the server cancelled ${pending.request.method}, which only a client may`)
  }
  const why = reason === undefined ? '' : `: ${excerpt(reason)}`
  settle(state, id)?.reject(new StdioError('ended', `The server ended the subscription${why}`))
}

function receiveFlaw(state: LinkState, flaw: LineFlaw): void {
  const { maxLineBytes } = state.settings
  const what = flaw.kind === 'too-long' ? `a line is longer than ${maxLineBytes} bytes` : 'a line is not valid UTF-8'
  const pending = settle(state, excerptId(flaw))
  if (pending === undefined) return report(state, `${what}: ${excerpt(flaw.head)}`)
  const code = flaw.kind === 'too-long' ? 'too-large' : 'protocol'
  pending.reject(new StdioError(code, `The answer cannot be read: ${what}`))
}

function report({ settings }: LinkState, what: string, cause?: unknown): void {
  settings.onError(new StdioError('protocol', `Skipped what came: ${what}`, { cause }))
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
