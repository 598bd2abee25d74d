import { createCall, type Call, type RpcNotification, type RpcRequest, type RpcResponse } from '@x/schema'

/** Takes what a server sends while a request is under way, or outside of all. */
export interface ServerMessageHandlers {
  onNotification(message: RpcNotification): void
  /** Gives the response; undefined when none must be sent. */
  onRequest(request: RpcRequest): Promise<RpcResponse | undefined>
}

/** Carries the messages of one session with an older server. */
export interface LegacyTransport {
  /**
   * Sends a request. When the signal aborts, the server is notified and the reason rejects. Rejects with {@link
   * SessionEndedError} when the server does not know the session any more, and has done nothing.
   */
  request(request: RpcRequest, signal: AbortSignal, messages: ServerMessageHandlers): Promise<RpcResponse>
  notify(message: RpcNotification): Promise<void>
  /**
   * Opens what carries notifications outside of calls, and resolves with a promise of its end; undefined where the
   * server has no such stream.
   */
  listen(signal: AbortSignal, messages: ServerMessageHandlers): Promise<{ readonly ended: Promise<void> } | undefined>
}

/** The server does not know the session any more. */
export class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError'
}

/** Creates a call of the connection's own. */
export function createInternalCall(signal: AbortSignal, notify: (message: RpcNotification) => void): Call {
  return createCall({ signal, notify })
}
