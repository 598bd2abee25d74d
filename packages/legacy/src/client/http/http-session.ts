import type { Clock } from '@x/core'
import { encodeMessage, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'
import type { HttpClient, HttpClientResponse } from '@x/transport-http/client'
import type { LegacyRevision } from '../../translate/revisions.ts'
import type { ServerMessageHandlers } from '../calls/port.ts'

/** The state that the requests of one session over HTTP share. */
export interface HttpSession {
  readonly http: HttpClient
  readonly clock: Clock
  /** The largest number of bytes on the stream of one call. */
  readonly maxStreamBytes: number
  /** The request for which the session was begun. Option functions receive it if a message belongs to no request. */
  readonly relatedRequest: RpcRequest
  /** The revision of the handshake. Undefined before the handshake ends. */
  revision: LegacyRevision | undefined
  sessionId: string | undefined
}

/** A request to an older server. */
export interface SentRequest {
  readonly request: RpcRequest
  readonly signal: AbortSignal
  readonly handlers: ServerMessageHandlers
}

/** Returns the headers that every request of a session has. */
export function createSessionHeaders({ sessionId, revision }: HttpSession): Record<string, string> {
  return {
    ...(revision !== undefined && { 'mcp-protocol-version': revision }),
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  }
}

/** Returns the origin of the server. */
export function originOf({ http }: Pick<HttpSession, 'http'>): string {
  return new URL(http.url).origin
}

/** Returns true if the status is from 200 to 299. */
export function isSuccessStatus({ status }: HttpClientResponse): boolean {
  return status >= 200 && status < 300
}

/** Sends a notification or a response. The server accepts it with a status and an empty body. */
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
  if (!isSuccessStatus(response)) throw await response.readError()
  response.stop()
}
