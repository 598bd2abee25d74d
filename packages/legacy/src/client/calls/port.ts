import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'
import type { LegacyRevision } from '../../translate/revisions.ts'

/** Receives the messages of a server: those of one request, or those outside of every request. */
export interface ServerMessageHandlers {
  onNotification(message: RpcNotification): void
  /** Resolves with the response to a request of the server, undefined when none is sent. */
  onRequest(request: RpcRequest): Promise<RpcResponse | undefined>
}

/** Carries the messages of one session with a server, from the probe and the handshake on. */
export interface Port {
  /**
   * Sends a request. Rejects with the reason of the signal when that aborts. After {@link begin} the server is then
   * notified of the cancellation. Rejects with {@link SessionEndedError} when the server does not know the session any
   * more, and has done nothing.
   */
  send(request: RpcRequest, signal: AbortSignal, handlers: ServerMessageHandlers): Promise<RpcResponse>
  notify(message: RpcNotification): Promise<void>
  /**
   * Opens the stream for messages outside of calls, and resolves with a promise of its end. Resolves with undefined
   * where the server has no such stream.
   */
  listen(
    signal: AbortSignal,
    handlers: ServerMessageHandlers,
  ): Promise<{ readonly endPromise: Promise<void> } | undefined>
  /** Ends the session at the server. */
  end(signal: AbortSignal): Promise<void>
  /**
   * Begins the session, after the response to `initialize` and before any other message. The handlers receive messages
   * outside of calls where the transport needs no {@link listen} for them.
   */
  begin(revision: LegacyRevision, handlers: ServerMessageHandlers): void
}

/** The server has forgotten the session, and has not run the request. */
export class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError'
}
