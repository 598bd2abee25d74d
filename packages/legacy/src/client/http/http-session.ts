import type { Clock } from '@x/core'
import { encodeMessage, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'
import type { HttpClient, HttpClientResponse } from '@x/transport-http/client'
import type { LegacyRevision } from '../../translate/revisions.ts'
import type { ServerMessageHandlers } from '../calls/port.ts'

/** State that the requests of one session over HTTP share. */
export interface HttpSession {
  readonly http: HttpClient
  readonly clock: Clock
  /** The most bytes on the stream of one call. */
  readonly maxStreamBytes: number
  /** Began the session. Option functions receive it if a message belongs to no request. */
  readonly relatedRequest: RpcRequest
  /** Agreed on in the handshake. Undefined before. */
  revision: LegacyRevision | undefined
  sessionId: string | undefined
  /** Cancellations that the server has not accepted yet. They never reject. */
  readonly cancellations: Set<Promise<void>>
}

export interface SentRequest {
  readonly request: RpcRequest
  readonly signal: AbortSignal
  readonly handlers: ServerMessageHandlers
}

/** Every request of a session has these headers. */
export function createSessionHeaders({ sessionId, revision }: HttpSession): Record<string, string> {
  return {
    ...(revision !== undefined && { 'mcp-protocol-version': revision }),
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  }
}

/** Requests an event stream: a new one, or the rest of one after an event. */
export function requestEvents(
  session: HttpSession,
  signal: AbortSignal,
  lastEventId?: string,
): Promise<HttpClientResponse> {
  const resumption = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const headers = { ...createSessionHeaders(session), ...resumption }
  return session.http.send({ method: 'GET', headers, rpcRequest: session.relatedRequest, signal })
}

export function originOf({ http }: Pick<HttpSession, 'http'>): string {
  return new URL(http.url).origin
}

export function isSuccessStatus({ status }: HttpClientResponse): boolean {
  return status >= 200 && status < 300
}

/** Sends a notification or a response, which the server accepts with a status and an empty body. */
export async function postToServer(
  session: HttpSession,
  message: RpcNotification | RpcResponse,
  { signal, rpcRequest = session.relatedRequest }: { readonly signal: AbortSignal; readonly rpcRequest?: RpcRequest },
): Promise<void> {
  const headers = createSessionHeaders(session)
  const response = await session.http.send({
    method: 'POST',
    headers,
    body: encodeMessage(message),
    rpcRequest,
    signal,
  })
  if (!isSuccessStatus(response)) throw (await response.readFailure()).error
  response.stop()
}
