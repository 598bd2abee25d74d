import type { RpcError, RpcResponse } from '@x/schema'
import { type HttpClientResponse, HttpError } from '@x/transport-http/client'
import { LegacyError } from '../calls/legacy-error.ts'
import { type HttpSession, isSuccessStatus, originOf, postToServer, type SentRequest } from './http-session.ts'
import { type MessageReaderContext, readMessages } from './read-messages.ts'
import { readResumableStream } from './resumable-stream.ts'

/** Milliseconds that the client waits after a response until the server ends the stream. */
const closeDelayMs = 1000
/** As many connections as one call's stream may have: an hour of polls with the usual pause of a second. */
const maxConnectionsOfCall = 3600

/** Reads the response to a request, from JSON or from events, which may arrive over several connections. */
export function readRpcResponse(
  session: HttpSession,
  response: HttpClientResponse,
  sentRequest: SentRequest,
): Promise<RpcResponse> {
  return new Promise((resolve, reject) => {
    const { request, handlers, signal } = sentRequest
    const reader: MessageReaderContext = {
      origin: originOf(session),
      bounds: session.http.bounds,
      messageHandlers: handlers,
      // Answers are sent even if the call is cancelled, because the server may wait for them.
      sendResponse: (answer) => postToServer(session, answer, { signal: session.http.closed, rpcRequest: request }),
      onResponse: (answer) => {
        // An error response has no id if the server could not read the request's.
        if (answer.id === request.id || (answer.id === undefined && 'error' in answer)) resolve(answer)
      },
      onFailure: reject,
    }
    readReplyMessages(session, response, reader, signal).then(
      () => reject(new HttpError('closed', 'the stream ended without the response', { origin: reader.origin })),
      (error: unknown) => reject(signal.aborted ? signal.reason : error),
    )
  })
}

async function readReplyMessages(
  session: HttpSession,
  response: HttpClientResponse,
  reader: MessageReaderContext,
  signal: AbortSignal,
): Promise<void> {
  const { type } = response
  if (!isSuccessStatus(response)) return readErrorStatus(session, response, reader)
  if (type === 'application/json') return readMessages(await response.text(), reader)
  if (type === 'text/event-stream') {
    let isAnswered = false
    const onResponse = (answer: RpcResponse): void => {
      isAnswered = true
      reader.onResponse(answer)
      // If the server ends the stream, its connection can be used for the next request. Otherwise it is closed here.
      session.clock.setTimeout(() => response.stop(), closeDelayMs)
    }
    const { maxStreamBytes: maxBytes } = session
    return readResumableStream(session, response, {
      reader: { ...reader, onResponse },
      signal,
      maxBytes,
      maxConnections: maxConnectionsOfCall,
      minPauseMs: 0,
      isDone: () => isAnswered,
    })
  }
  throw (await response.readFailure()).error
}

async function readErrorStatus(
  session: HttpSession,
  response: HttpClientResponse,
  { onResponse }: Pick<MessageReaderContext, 'onResponse'>,
): Promise<void> {
  if (response.status === 404 && session.sessionId !== undefined) {
    response.stop()
    throw sessionEndedError(session)
  }
  const { rpcError, error } = await response.readFailure()
  if (isLostSession(session, response, rpcError)) throw sessionEndedError(session, rpcError)
  if (rpcError === undefined) throw error
  onResponse(rpcError)
}

/** Servers of the official SDK reject an unknown session id with this code. */
const lostSessionError = { code: -32_000 }

/**
 * True if a server does not know a session, for example after its restart. The specification wants 404
 * (basic/transports, session management), but many servers copy an example that answers 400.
 */
function isLostSession(
  { sessionId }: HttpSession,
  { status }: HttpClientResponse,
  rpcError: RpcError | undefined,
): boolean {
  return status === 400 && sessionId !== undefined && rpcError?.error.code === lostSessionError.code
}

function sessionEndedError(session: HttpSession, response?: RpcError): LegacyError {
  return new LegacyError('session_ended', `${originOf(session)}: the server no longer knows the session`, response)
}

/**
 * Throws `session_ended` if the response to a GET says that the server does not know the session. Ends the response.
 */
export async function checkSession(session: HttpSession, response: HttpClientResponse): Promise<void> {
  if (response.status !== 400) response.stop()
  if (response.status === 404 && session.sessionId !== undefined) throw sessionEndedError(session)
  if (response.status !== 400) return
  const { rpcError } = await response.readFailure()
  if (isLostSession(session, response, rpcError)) throw sessionEndedError(session, rpcError)
}
