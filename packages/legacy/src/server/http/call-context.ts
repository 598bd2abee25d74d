import { type Cancellation, withSignalOf } from '@x/core'
import { callerKeyOf } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import type { CallChannel } from '../call/call-channel.ts'
import type { WaitingRound } from '../call/waiting-round.ts'
import type { LegacySessionState } from '../session/session-state.ts'
import type { CallStream } from './call-stream.ts'
import type { WrittenEvent } from './event-id.ts'
import type { HttpDeps } from './http-deps.ts'
import type { HttpPeer } from './peer.ts'
import { withClientSession } from '../session/client-session.ts'

/** The calls of one POST, and the stream of their responses. */
export interface CallContext {
  readonly peer: HttpPeer
  readonly stream: CallStream
  readonly state: LegacySessionState | undefined
  readonly isBatch: boolean
  readonly activeCalls: Set<CancellableCall>
  /** Continues the call with this round, if another instance sent its questions. */
  readonly round: WaitingRound | undefined
}

export interface CancellableCall {
  readonly request: RpcRequest
  cancel(reason: string): void
}

/** A call that other instances can continue, because they share a store. */
export interface LinkedCall {
  /**
   * Called when a round of the call was stored. `handOff` ends the call here so that another instance can continue it.
   */
  onStored(round: WaitingRound, handOff: () => void): void
  /**
   * Called when the call has ended. Deletes its round, and stores its response for a client that resumes the stream at
   * another instance.
   */
  finish(response: WrittenEvent | undefined): void
}

/** Undefined if no other instance can continue the call. */
export function createLinkedCall(
  { peer, stream, isBatch, round }: CallContext,
  { link, callDeps }: HttpDeps,
): LinkedCall | undefined {
  const { session, view } = peer
  if (session === undefined || isBatch || link === undefined) return undefined
  let isStored = round !== undefined
  return {
    onStored(storedRound, handOff) {
      isStored = true
      link.rounds.watch(storedRound, callerKeyOf(view), handOff)
      if (stream.hasRemoteReader) link.bus.publish('asked', { id: stream.id })
    },
    finish(response) {
      if (!isStored && !stream.hasRemoteReader) return
      const owner = { key: session.key, callerKey: callerKeyOf(view) }
      link.rounds.finish(stream.id, owner, response).catch(callDeps.reportError)
    },
  }
}

/**
 * More events than one round can have. It separates the rounds' event ids, so that those of a later round are larger at
 * any instance.
 */
const eventsOfRound = 1_000_000

export function createCallChannel(
  { peer, stream }: CallContext,
  cancellation: Cancellation,
  { linkedCall, handOff }: { readonly linkedCall: LinkedCall | undefined; readonly handOff: () => void },
): CallChannel {
  const { session, view } = peer
  const channel: Omit<CallChannel, 'signal'> = {
    caller: withClientSession(view, session?.digest),
    owner: session?.key,
    timeoutMs: view.limits.timeoutMs,
    notify: (message) => stream.send(message, true),
    stream: { id: session === undefined ? '' : stream.id, countEvents: () => stream.eventCount },
    ask: (question, { isShared }) =>
      question.state === undefined && !isShared ? stream.send(question, false) : stream.ask(question),
    onQuestionsSent(round, { isShared, states }) {
      if (isShared || states.size > 0) stream.beginAsking()
      if (isShared) linkedCall?.onStored(round, handOff)
    },
    onAnswered: ({ roundCount }, { states }) => stream.endAsking(states.size > 0, (roundCount + 1) * eventsOfRound),
    notifyOfQuestion: (message) => stream.send(message, false),
  }
  return withSignalOf(channel, cancellation)
}
