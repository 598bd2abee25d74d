import { computeBackoffMs, type Clock, sleep } from '@x/core'
import { encodeMessage, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'
import { type HttpClient, type HttpClientResponse, HttpError } from '@x/transport-http/client'
import type { LegacyRevision } from '../revisions.ts'
import { type LegacyTransport, type ServerMessageHandlers, SessionEndedError } from '../client/session.ts'
import { type MessageReaderContext, readEvents, readMessages, type StreamPosition } from './read-messages.ts'

/** State that the requests of one session over HTTP share. */
export interface LegacyHttpTransportOptions {
  readonly http: HttpClient
  readonly clock: Clock
  readonly revision: LegacyRevision
  readonly sessionId: string | undefined
  /** The bytes of the stream of one call. */
  readonly maxStreamBytes: number
  /** The request that option functions are asked with where there is none. */
  readonly relatedRequest: RpcRequest
}

/** A session over HTTP, which can be ended. */
export interface LegacyHttpTransport extends LegacyTransport {
  /** Ends the session at the server, where it has an id. */
  end(signal: AbortSignal): Promise<void>
}

const closeDelayMs = 1000
const retryDelays = { firstMs: 1000, maxMs: 30_000 }
const maxAttempts = 5
/** The connections of one call: an hour of polls at the usual pause of a second. */
const maxConnectionsOfCall = 3600
const cancelTimeoutMs = 5000

/** Carries the messages of one session over HTTP (2025-11-25, basic/transports). */
export function createLegacyHttpTransport(transportOptions: LegacyHttpTransportOptions): LegacyHttpTransport {
  return {
    request: (request, signal, handlers) => sendRequest(transportOptions, { request, signal, handlers }),
    notify: (message) => postToServer(transportOptions, message, { signal: transportOptions.http.closed }),
    listen: (signal, handlers) => listenToServer(transportOptions, signal, handlers),
    end: (signal) => endHttpSession(transportOptions, signal),
  }
}

function createSessionHeaders({ sessionId, revision }: LegacyHttpTransportOptions): Record<string, string> {
  return { 'mcp-protocol-version': revision, ...(sessionId !== undefined && { 'mcp-session-id': sessionId }) }
}

function originOf({ http }: LegacyHttpTransportOptions): string {
  return new URL(http.url).origin
}

function isSuccessStatus({ status }: HttpClientResponse): boolean {
  return status >= 200 && status < 300
}

interface SentRequest {
  readonly request: RpcRequest
  readonly signal: AbortSignal
  readonly handlers: ServerMessageHandlers
}

async function sendRequest(
  transportOptions: LegacyHttpTransportOptions,
  { request, signal, handlers }: SentRequest,
): Promise<RpcResponse> {
  signal.throwIfAborted()
  // Closes the streams of a call that failed.
  const finishController = new AbortController()
  const requestSignal = AbortSignal.any([signal, finishController.signal])
  const sendCancellation = (): void => {
    const params = { requestId: request.id, ...cancellationReasonOf(signal.reason) }
    const cancelSignal = AbortSignal.any([AbortSignal.timeout(cancelTimeoutMs), transportOptions.http.closed])
    const cancelMessage: RpcNotification = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
    // No caller waits for it, and the server may not know the call any more.
    postToServer(transportOptions, cancelMessage, { signal: cancelSignal }).catch(() => {})
  }
  signal.addEventListener('abort', sendCancellation, { once: true })
  try {
    const options = {
      method: 'POST',
      body: encodeMessage(request),
      rpcRequest: request,
      signal: requestSignal,
    } as const
    const response = await transportOptions.http.send({ ...options, headers: createSessionHeaders(transportOptions) })
    return await readRpcResponse(transportOptions, response, { request, signal: requestSignal, handlers })
  } catch (error) {
    finishController.abort(error)
    throw error
  } finally {
    signal.removeEventListener('abort', sendCancellation)
  }
}

/** Reads the response to a request: JSON, or events, over as many connections as it takes. */
export function readRpcResponse(
  transportOptions: LegacyHttpTransportOptions,
  response: HttpClientResponse,
  sentRequest: SentRequest,
): Promise<RpcResponse> {
  return new Promise((resolve, reject) => {
    const { request, handlers, signal } = sentRequest
    const reader: MessageReaderContext = {
      origin: originOf(transportOptions),
      bounds: transportOptions.http.bounds,
      messageHandlers: handlers,
      // Also for a call that was cancelled: the server may wait for the answer.
      sendResponse: (answer) =>
        postToServer(transportOptions, answer, { signal: transportOptions.http.closed, rpcRequest: request }),
      onResponse: (answer) => {
        // An error may lack the id, when the server could not read the request's.
        if (answer.id === request.id || (answer.id === undefined && 'error' in answer)) resolve(answer)
      },
      onFailure: reject,
    }
    readResponse(transportOptions, response, { reader, signal }).then(
      () => reject(createNoResponseError(reader.origin)),
      (error: unknown) => reject(signal.aborted ? signal.reason : error),
    )
  })
}

interface ResponseReadOptions {
  readonly reader: MessageReaderContext
  readonly signal: AbortSignal
}

function createNoResponseError(origin: string): HttpError {
  return new HttpError('closed', 'the stream ended without the response', { origin })
}

async function readResponse(
  transportOptions: LegacyHttpTransportOptions,
  response: HttpClientResponse,
  { reader, signal }: ResponseReadOptions,
): Promise<void> {
  const { status, type } = response
  if (status === 404 && transportOptions.sessionId !== undefined) {
    response.stop()
    throw new SessionEndedError(`${reader.origin}: the server does not know the session any more`)
  }
  if (!isSuccessStatus(response)) return readErrorResponse(response, reader)
  if (type === 'application/json') return readMessages(await response.text(), reader)
  if (type === 'text/event-stream') {
    let isAnswered = false
    const onResponse = (answer: RpcResponse): void => {
      isAnswered = true
      reader.onResponse(answer)
      // Left open for its end, the connection serves the next request. One that lingers is closed.
      transportOptions.clock.setTimeout(() => response.stop(), closeDelayMs)
    }
    const { maxStreamBytes: maxBytes } = transportOptions
    return readResumableStream(transportOptions, response, {
      reader: { ...reader, onResponse },
      signal,
      maxBytes,
      maxConnections: maxConnectionsOfCall,
      minPauseMs: 0,
      isDone: () => isAnswered,
    })
  }
  response.stop()
  const bodyDescription = type === undefined ? 'no body' : `a body of type ${type.slice(0, 100)}`
  throw new HttpError('protocol', `answered ${status} with ${bodyDescription}`, {
    origin: reader.origin,
    status,
  })
}

async function readErrorResponse(response: HttpClientResponse, reader: MessageReaderContext): Promise<void> {
  const { text, error } = await readFailure(response)
  if (text === undefined) throw error
  let isResponseRead = false
  const onResponse = (answer: RpcResponse): void => {
    isResponseRead = 'error' in answer
    if (isResponseRead) reader.onResponse(answer)
  }
  try {
    readMessages(text, { ...reader, onResponse })
  } catch {
    throw error
  }
  if (!isResponseRead) throw error
}

/**
 * The body of a response that is no answer, where it may hold a JSON-RPC error, and the error for one that does not.
 */
export async function readFailure(response: HttpClientResponse): Promise<{ text?: string; error: Error }> {
  const { status, type } = response
  if (type !== 'application/json') return { error: await response.readError() }
  const text = await response.text()
  const excerpt = text.slice(0, 200).replaceAll(/[\p{Cc}\s]+/gu, ' ')
  const message = `the server answered ${status}: ${excerpt}`
  return { text, error: new HttpError('status', message, { origin: '', status, excerpt }) }
}

interface ResumableReadOptions extends ResponseReadOptions {
  readonly maxBytes: number
  readonly maxConnections: number
  readonly minPauseMs: number
  readonly isDone: () => boolean
}

/**
 * Reads a stream, and takes it up again by GET with `Last-Event-ID` where it broke off: not before the pause that the
 * server named, no more than five times in a row without an event, and over a bounded number of connections
 * (basic/transports, resumability).
 */
async function readResumableStream(
  transportOptions: LegacyHttpTransportOptions,
  firstResponse: HttpClientResponse,
  readOptions: ResumableReadOptions,
): Promise<void> {
  const { signal, isDone, maxConnections, minPauseMs } = readOptions
  const position: StreamPosition = { lastEventId: undefined, retryMs: undefined, eventCount: 0, byteCount: 0 }
  let response: HttpClientResponse | undefined = firstResponse
  let connectionCount = 0
  for (let attemptCount = 0; ; attemptCount += 1) {
    connectionCount += 1
    const eventCountBefore = position.eventCount
    const failure = await readStreamPart(transportOptions, response, { ...readOptions, position })
    if (isDone()) return
    signal.throwIfAborted()
    if (position.eventCount > eventCountBefore) attemptCount = 0
    const isExhausted = attemptCount >= maxAttempts || connectionCount >= maxConnections
    if (position.lastEventId === undefined || isExhausted || !isResumable(failure)) {
      if (failure !== undefined) throw failure
      return
    }
    const pauseMs = position.retryMs ?? computeBackoffMs(attemptCount, retryDelays)
    await sleep(Math.max(minPauseMs, pauseMs), { clock: transportOptions.clock, signal })
    response = undefined
  }
}

/** Reads one connection of a stream to its end. Gives what it failed of. */
async function readStreamPart(
  transportOptions: LegacyHttpTransportOptions,
  existingResponse: HttpClientResponse | undefined,
  { reader, signal, maxBytes, position }: ResumableReadOptions & { readonly position: StreamPosition },
): Promise<unknown> {
  try {
    const response = existingResponse ?? (await requestEventStream(transportOptions, signal, position.lastEventId))
    await readEvents(response, reader, { position, maxBytes: maxBytes - position.byteCount })
    return undefined
  } catch (error) {
    return error
  }
}

// A broken connection, or a server that is unreachable for a while. Anything else would end the same way.
function isResumable(failure: unknown): boolean {
  if (failure === undefined) return true
  if (!(failure instanceof HttpError)) return false
  return failure.code === 'closed' || failure.code === 'connect' || (failure.status ?? 0) >= 500
}

async function requestEventStream(
  transportOptions: LegacyHttpTransportOptions,
  signal: AbortSignal,
  lastEventId?: string,
): Promise<HttpClientResponse> {
  const headers = {
    ...createSessionHeaders(transportOptions),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const response = await transportOptions.http.send({
    method: 'GET',
    headers,
    rpcRequest: transportOptions.relatedRequest,
    signal,
  })
  if (response.status === 200 && response.type === 'text/event-stream') return response
  throw await response.readError()
}

async function listenToServer(
  transportOptions: LegacyHttpTransportOptions,
  signal: AbortSignal,
  handlers: ServerMessageHandlers,
): Promise<{ readonly endPromise: Promise<void> } | undefined> {
  const response = await transportOptions.http.send({
    method: 'GET',
    headers: createSessionHeaders(transportOptions),
    rpcRequest: transportOptions.relatedRequest,
    signal,
  })
  if (response.status === 404 && transportOptions.sessionId !== undefined) {
    response.stop()
    throw new SessionEndedError(`${originOf(transportOptions)}: the server does not know the session any more`)
  }
  if (response.status !== 200 || response.type !== 'text/event-stream') {
    // 405: the server has no such stream.
    if (response.status >= 500 || response.status === 401 || response.status === 403) throw await response.readError()
    response.stop()
    return undefined
  }
  const reader: MessageReaderContext = {
    origin: originOf(transportOptions),
    bounds: transportOptions.http.bounds,
    messageHandlers: handlers,
    sendResponse: (answer) => postToServer(transportOptions, answer, { signal }),
    // basic/transports: no response comes on this stream.
    onResponse: () => {},
    onFailure: () => {},
  }
  const maxBytes = Number.POSITIVE_INFINITY
  return {
    endPromise: readResumableStream(transportOptions, response, {
      reader,
      signal,
      maxBytes,
      maxConnections: Number.POSITIVE_INFINITY,
      minPauseMs: retryDelays.firstMs,
      isDone: () => signal.aborted,
    }),
  }
}

/** Sends a notification or a response, which is accepted without a body. */
async function postToServer(
  transportOptions: LegacyHttpTransportOptions,
  message: RpcNotification | RpcResponse,
  {
    signal,
    rpcRequest: relatedRequest = transportOptions.relatedRequest,
  }: { readonly signal: AbortSignal; readonly rpcRequest?: RpcRequest },
): Promise<void> {
  const options = { method: 'POST', body: encodeMessage(message), rpcRequest: relatedRequest, signal } as const
  const response = await transportOptions.http.send({ ...options, headers: createSessionHeaders(transportOptions) })
  if (!isSuccessStatus(response)) throw await response.readError()
  response.stop()
}

async function endHttpSession(transportOptions: LegacyHttpTransportOptions, signal: AbortSignal): Promise<void> {
  if (transportOptions.sessionId === undefined) return
  // 405: the server does not let clients end sessions.
  const response = await transportOptions.http.send({
    method: 'DELETE',
    headers: createSessionHeaders(transportOptions),
    rpcRequest: transportOptions.relatedRequest,
    signal,
    // The end of a session is no reason for a login.
    mayAuthorize: false,
  })
  response.stop()
}

// An error is for this side. A text, and what the platform says of a signal, are harmless.
function cancellationReasonOf(reason: unknown): { readonly reason?: string } {
  if (typeof reason === 'string') return { reason: reason.slice(0, 200) }
  return reason instanceof DOMException ? { reason: reason.message.slice(0, 200) } : {}
}
