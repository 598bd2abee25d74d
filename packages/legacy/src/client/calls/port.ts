import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'
import type { LegacyRevision } from '../../translate/revisions.ts'

/** Takes what a server sends while a request runs, or outside of all. */
export interface ServerMessageHandlers {
  onNotification(message: RpcNotification): void
  /** Gives the response, undefined when none must be sent. */
  onRequest(request: RpcRequest): Promise<RpcResponse | undefined>
}

/** Carries the messages of one session with a server, or those that begin one. */
export interface Port {
  /**
   * Sends a request. When the signal aborts after {@link begin}, the server is notified and the reason rejects. Rejects
   * with {@link SessionEndedError} when the server does not know the session any more, and has done nothing.
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
   * Begins the session, after the response to `initialize` and before any other message. The handlers take messages
   * outside of calls that come without {@link listen}.
   */
  begin(revision: LegacyRevision, handlers: ServerMessageHandlers): void
}

/** The server does not know the session any more. */
export class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError'
}
