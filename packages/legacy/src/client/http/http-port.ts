import { settlesWithin, withTimeout } from '@x/core'
import { encodeMessage, type RpcNotification, type RpcResponse } from '@x/schema'
import { discoverProbe } from '@x/exchange/internal'
import { HttpError, isHttpError } from '@x/transport-http/client'
import type { Port, ServerMessageHandlers } from '../calls/port.ts'
import {
  createSessionHeaders,
  type HttpSession,
  originOf,
  postToServer,
  requestEvents,
  type SentRequest,
} from './http-session.ts'
import { sendProbe } from './probe.ts'
import type { MessageReaderContext } from './read-messages.ts'
import { checkSession, readRpcResponse } from './read-response.ts'
import { readResumableStream, retryDelays } from './resumable-stream.ts'

const cancelTimeoutMs = 5000
/** For so many milliseconds, the end of a session waits for the cancellations of its calls. */
const cancelWaitMs = 1000

/** One session over HTTP (2025-11-25, basic/transports). */
export function createHttpPort(options: Omit<HttpSession, 'revision' | 'sessionId' | 'cancellations'>): Port {
  // Bounded by the calls of the client that run.
  const session: HttpSession = { ...options, revision: undefined, sessionId: undefined, cancellations: new Set() }
  return {
    send: (request, signal, handlers) => sendRequest(session, { request, signal, handlers }),
    notify: (message) => postToServer(session, message, { signal: session.http.closed }),
    listen: (signal, handlers) => listenToServer(session, signal, handlers),
    end: (signal) => endSession(session, signal),
    begin: (revision) => {
      session.revision = revision
    },
  }
}

function sendRequest(session: HttpSession, sentRequest: SentRequest): Promise<RpcResponse> {
  if (session.revision !== undefined) return sendInSession(session, sentRequest)
  return sentRequest.request.method === discoverProbe.method
    ? sendProbe(session, sentRequest)
    : sendInitialize(session, sentRequest)
}

async function sendInitialize(session: HttpSession, sentRequest: SentRequest): Promise<RpcResponse> {
  const { request, signal } = sentRequest
  const response = await session.http.send({
    method: 'POST',
    body: encodeMessage(request),
    // Headers must be those of the session's own principal.
    rpcRequest: session.relatedRequest,
    signal,
  })
  session.sessionId = response.header('mcp-session-id')
  return readRpcResponse(session, response, sentRequest).catch(throwExplainedError)
}

function throwExplainedError(error: unknown): never {
  if (!isHttpError(error) || error.status === undefined || ![400, 404, 405].includes(error.status)) throw error
  const { status, excerpt, origin } = error
  const message =
    `${error.message}; it answered neither server/discover nor initialize: if it is a server of HTTP+SSE (2024-11-05), ` +
    'that transport is not supported'
  throw new HttpError('status', message, { origin, status, excerpt, cause: error })
}

async function sendInSession(session: HttpSession, { request, signal, handlers }: SentRequest): Promise<RpcResponse> {
  signal.throwIfAborted()
  // Aborts to close the streams of a call that failed.
  const finishController = new AbortController()
  const requestSignal = AbortSignal.any([signal, finishController.signal])
  const sendCancellation = (): void => {
    const params = { requestId: request.id, ...cancellationReasonOf(signal.reason) }
    const cancelMessage: RpcNotification = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
    const limit = {
      signal: session.http.closed,
      timeoutMs: cancelTimeoutMs,
      clock: session.clock,
      createTimeoutError: () => new Error(`${originOf(session)} did not answer the cancellation in time`),
    }
    const post = (cancelSignal: AbortSignal): Promise<void> =>
      postToServer(session, cancelMessage, { signal: cancelSignal })
    // Failing is fine, because the server may not know the call any more.
    const cancellation = withTimeout(limit, post)
      .catch(() => {})
      .finally(() => session.cancellations.delete(cancellation))
    session.cancellations.add(cancellation)
  }
  signal.addEventListener('abort', sendCancellation, { once: true })
  try {
    const response = await session.http.send({
      method: 'POST',
      body: encodeMessage(request),
      headers: createSessionHeaders(session),
      rpcRequest: request,
      signal: requestSignal,
      isCall: true,
    })
    return await readRpcResponse(session, response, { request, signal: requestSignal, handlers })
  } catch (error) {
    finishController.abort(error)
    throw error
  } finally {
    signal.removeEventListener('abort', sendCancellation)
  }
}

async function listenToServer(
  session: HttpSession,
  signal: AbortSignal,
  handlers: ServerMessageHandlers,
): Promise<{ readonly endPromise: Promise<void> } | undefined> {
  const response = await requestEvents(session, signal)
  const origin = originOf(session)
  if (response.status !== 200 || response.type !== 'text/event-stream') {
    // Any other status, such as 405, means that the server has no such stream.
    if (response.status >= 500 || response.status === 401 || response.status === 403)
      throw (await response.readFailure()).error
    await checkSession(session, response)
    return undefined
  }
  const reader: MessageReaderContext = {
    origin,
    bounds: session.http.bounds,
    messageHandlers: handlers,
    sendResponse: (answer) => postToServer(session, answer, { signal }),
    // basic/transports: the server sends no responses on this stream.
    onResponse: () => {},
    onFailure: () => {},
  }
  return {
    endPromise: readResumableStream(session, response, {
      reader,
      signal,
      maxBytes: Number.POSITIVE_INFINITY,
      maxConnections: Number.POSITIVE_INFINITY,
      minPauseMs: retryDelays.firstMs,
      isDone: () => signal.aborted,
    }),
  }
}

async function endSession(session: HttpSession, signal: AbortSignal): Promise<void> {
  // After the end, the server knows no call to cancel, and the connection closes its sockets.
  await settlesWithin(Promise.all(session.cancellations), cancelWaitMs, session.clock)
  if (session.sessionId === undefined) return
  // Any status will do, for example 405 if the server does not let clients end sessions.
  const response = await session.http.send({
    method: 'DELETE',
    headers: createSessionHeaders(session),
    rpcRequest: session.relatedRequest,
    signal,
    // Ending a session must not start a login.
    mayAuthorize: false,
  })
  response.stop()
}

// An arbitrary error's message may contain details of this program. Strings and `DOMException`s of signals do not, so
// only they are sent.
function cancellationReasonOf(reason: unknown): { readonly reason?: string } {
  if (typeof reason === 'string') return { reason: reason.slice(0, 200) }
  return reason instanceof DOMException ? { reason: reason.message.slice(0, 200) } : {}
}
