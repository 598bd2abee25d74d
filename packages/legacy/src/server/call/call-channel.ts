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
   * Key of the session, or of the pair of streams, that may answer questions. Undefined if the client cannot be asked.
   */
  readonly owner: string | undefined
  /** Milliseconds that a handler may run. Infinity means no limit. */
  readonly timeoutMs: number
  notify(message: RpcNotification): void
  /** The id is empty for a call over a pair of streams, which cannot be resumed. */
  readonly stream: { readonly id: string; countEvents(): number }
  /** Asks the client, on the stream of the call. */
  ask(request: StatefulRequest, round: StoredRound): void
  /** Called after a round's questions were sent. */
  onQuestionsSent(round: WaitingRound, storedRound: StoredRound): void
  /** Called after all questions of a round were answered. */
  onAnswered(round: WaitingRound, storedRound: StoredRound): void
  /** Sends a notification about a question, even if the call has been cancelled. */
  notifyOfQuestion(message: RpcNotification): void
}

export interface LegacyCall {
  readonly request: RpcRequest
  readonly client: LegacyClient
  readonly level: LoggingLevel
  readonly channel: CallChannel
}

/** Thrown to stop a call here without a response once another instance has taken it over. */
export class CallHandedOffError extends Error {
  override readonly name = 'CallHandedOffError'
}
