import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'
import type { LegacyRevision } from '../../translate/revisions.ts'

/** Handle a server's messages: those during one request, or those outside all requests. */
export interface ServerMessageHandlers {
  onNotification(message: RpcNotification): void
  /** Answers a request of the server. Undefined if no response is to be sent. */
  onRequest(request: RpcRequest): Promise<RpcResponse | undefined>
}

/** Carries the messages of one session, including the probe and the handshake. */
export interface Port {
  /**
   * Sends a request. Rejects with the abort reason when the signal aborts; after {@link begin}, the server is notified
   * of the cancellation. Rejects with a `LegacyError` `session_ended` if the server no longer knows the session,
   * and so has not run the request.
   */
  send(request: RpcRequest, signal: AbortSignal, handlers: ServerMessageHandlers): Promise<RpcResponse>
  notify(message: RpcNotification): Promise<void>
  /**
   * Opens the stream for messages outside calls. Resolves with a promise that settles at its end, or with undefined if
   * the server has no such stream.
   */
  listen(
    signal: AbortSignal,
    handlers: ServerMessageHandlers,
  ): Promise<{ readonly endPromise: Promise<void> } | undefined>
  /** Ends the session at the server. */
  end(signal: AbortSignal): Promise<void>
  /**
   * Begins the session, after the response to `initialize` and before any other message. If the transport needs no
   * {@link listen}, messages outside calls come to these handlers.
   */
  begin(revision: LegacyRevision, handlers: ServerMessageHandlers): void
}
