import type { LoggingLevel, RpcNotification, RpcRequest, StatefulRequest } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { Caller } from '../session/deps.ts'
import type { StoredRound } from './round-store.ts'
import type { WaitingRound } from './waiting-round.ts'

/** The channel between a call and its client. */
export interface CallChannel {
  readonly caller: Caller
  /** Aborts when the client cancels the call, or when no response can reach the client any more. */
  readonly signal: AbortSignal
  /**
   * The key of the session, or of the pair of streams, that may answer questions. Undefined if the client cannot be
   * asked.
   */
  readonly owner: string | undefined
  /** Milliseconds that a handler may run. Infinity means no limit. */
  readonly timeoutMs: number
  /** Sends a notification about the call. */
  notify(message: RpcNotification): void
  /** The stream of the call. Its id is empty for a call over a pair of streams, which cannot be resumed. */
  readonly stream: { readonly id: string; countEvents(): number }
  /** Sends a question to the client, on the stream of the call. */
  ask(request: StatefulRequest, round: StoredRound): void
  /** Called after the questions of a round were sent. */
  onQuestionsSent(round: WaitingRound, storedRound: StoredRound): void
  /** Called after all questions of a round were answered. */
  onAnswered(round: WaitingRound, storedRound: StoredRound): void
  /** Sends a notification about a question, even if the call has been cancelled. */
  notifyOfQuestion(message: RpcNotification): void
}

/** A call of an older client. */
export interface LegacyCall {
  readonly request: RpcRequest
  readonly client: LegacyClient
  readonly level: LoggingLevel
  readonly channel: CallChannel
}

/** The error of a call that ends at this instance without a response, because another instance continues it. */
export class CallHandedOffError extends Error {
  override readonly name = 'CallHandedOffError'
}
