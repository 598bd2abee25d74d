import type { Call, LoggingLevel, RpcNotification, RpcRequest, StatefulRequest } from '@x/schema'
import type { LegacyClient } from '../translate/request.ts'
import type { WrittenEvent } from './http/event-id.ts'
import type { StoredQuestion } from './link/link-store.ts'
import type { WaitingCall } from './question-state.ts'
import type { Session } from './session.ts'

/** The caller on whose behalf calls of the server are made, and how it is connected. */
export type Caller = Pick<Call, 'principal' | 'context'>

/** Channel between a call and its client. */
export interface CallChannel {
  readonly caller: Caller
  /** Aborts when the client cancels the call, or nobody can be answered any more. */
  readonly signal: AbortSignal
  /** Identifies who may answer: a session, or a pair of streams. Undefined for a client that cannot be asked. */
  readonly owner: string | undefined
  /** Milliseconds that a handler may run; Infinity is no limit. */
  readonly timeoutMs: number
  /** Sends a notification about the call. */
  notify(message: RpcNotification): void
  /**
   * The session and the stream of a call that can be resumed from the `state` of a question; undefined for every other.
   */
  readonly sessionStream: { readonly session: Session; readonly streamId: string; countEvents(): number } | undefined
  /** Undefined for a call that cannot go on at another instance. */
  readonly link: CallLink | undefined
  /** Sends a request to the client, on the call's own stream. */
  ask(request: StatefulRequest): void
  /** Called when all questions of a round were answered. */
  onAnswered(): void
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

/** The link of a call with the other instances. */
export interface CallLink {
  /** The stream of the call, with which its question ids begin. */
  readonly streamId: string
  /**
   * Stores the call before it asks. False when the store cannot be reached: the call then waits at this instance alone.
   */
  store(waitingCall: WaitingCall, questions: readonly StoredQuestion[]): Promise<boolean>
  /** Called when the questions were sent. */
  onQuestionsSent(): void
  /** Resolves with true when the call may go on here: one instance may use the answers of a round. */
  claim(): Promise<boolean>
  /** The call does not wait here any more; its record stays for other instances. */
  release(): void
  /** The call is over: its record goes, and its response is kept for a client that comes back. */
  finish(responseEvent: WrittenEvent | undefined): void
}

/** The reason of a call that ends here without an answer, because it goes on at another instance. */
export class CallHandedOffError extends Error {
  override readonly name = 'CallMoved'
}
