import type { LoggingLevel, RpcNotification, RpcRequest, StatefulRequest } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { Caller } from '../session/deps.ts'
import type { KeptRound } from './round-store.ts'
import type { WaitingRound } from './waiting-round.ts'

/** Channel between a call and its client. */
export interface CallChannel {
  readonly caller: Caller
  /** Aborts when the client cancels the call, or can no longer be answered. */
  readonly signal: AbortSignal
  /** Identifies the client that may answer: a session, or a pair of streams. Undefined where none can be asked. */
  readonly owner: string | undefined
  /** Milliseconds that a handler may run. Infinity is no limit. */
  readonly timeoutMs: number
  /** Sends a notification about the call. */
  notify(message: RpcNotification): void
  /** The stream of the call. Its id is empty for a pair of streams, which ends with its call. */
  readonly stream: { readonly id: string; countEvents(): number }
  /** Sends a request to the client, on the call's own stream. */
  ask(request: StatefulRequest, round: KeptRound): void
  /** Called when the questions of a round were sent. */
  onQuestionsSent(round: WaitingRound, kept: KeptRound): void
  /** Called when all questions of a round were answered. */
  onAnswered(round: WaitingRound, kept: KeptRound): void
  /** Sends a notification about a question, also when the call has been cancelled. */
  notifyOfQuestion(message: RpcNotification): void
}

/** A call of an older client. */
export interface LegacyCall {
  readonly request: RpcRequest
  readonly client: LegacyClient
  readonly level: LoggingLevel
  readonly channel: CallChannel
}

/** The reason of a call that ends here without an answer, because another instance continues it. */
export class CallHandedOffError extends Error {
  override readonly name = 'CallHandedOffError'
}
