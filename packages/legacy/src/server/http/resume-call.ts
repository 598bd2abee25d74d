import type { RpcResponse } from '@x/schema'
import { toRoundAnswer, type RoundAnswer } from '../ask-client.ts'
import type { OpenedState, WaitingCall } from '../question-state.ts'
import type { Session } from '../session.ts'
import type { HttpDeps, ResumedRound, SessionPeer, OwnedStream } from './http-deps.ts'
import { type ResumedStream, takeOverStream } from './serve-requests.ts'

const maxRounds = 10_000
const maxRoundsPerSession = 64
// Between a question and its state the stream may have had a few more events.
const eventNumberGap = 1000

/**
 * Takes an answer whose state carries its call (SEP-1685). With the last answer of the round the call goes on; its
 * response waits for the client to resume the stream. Returns false when there is no room.
 */
export function resumeCall({ key, call }: OpenedState, response: RpcResponse, context: ResumeContext): boolean {
  const round = resumeRound({ id: call.streamId, firstEventNumber: call.eventCount + eventNumberGap }, context)
  if (round === undefined) return false
  const method = call.questions.get(key)
  if (method !== undefined) round.answers.set(key, toRoundAnswer(method, response))
  const hasOpenQuestions = [...call.questions].some(
    ([questionKey, questionMethod]) => questionMethod !== undefined && !round.answers.has(questionKey),
  )
  if (hasOpenQuestions) return true
  context.http.resumedRounds.delete(resumedRoundKey(context.peer.session, call.streamId))
  round.ownedStream.run({ waitingCall: call, answers: fillAcceptedAnswers(call, round.answers) })
  return true
}

/** The client of a call that is resumed, and the instance. */
export interface ResumeContext {
  readonly peer: SessionPeer
  readonly http: HttpDeps
}

/** Gives the stream of a call that waits, though nothing is known of it here but the id of its last event. */
export function resumeWaitingStream(
  id: string,
  lastEventNumber: number,
  context: ResumeContext,
): OwnedStream | undefined {
  return resumeRound({ id, firstEventNumber: lastEventNumber + eventNumberGap }, context)?.ownedStream
}

function resumeRound(stream: Omit<ResumedStream, 'onEnd'>, { peer, http }: ResumeContext): ResumedRound | undefined {
  const { resumedRounds } = http
  const { session } = peer
  const key = resumedRoundKey(session, stream.id)
  const knownRound = resumedRounds.get(key)
  if (knownRound !== undefined) return knownRound
  if (resumedRounds.size >= maxRounds || http.sessionStates.find(session)?.streams.has(stream.id) === true)
    return undefined
  const sessionRounds = [...resumedRounds.values()].filter(({ ownedStream: { owner } }) => owner === session.key)
  if (sessionRounds.length >= maxRoundsPerSession) return undefined
  const round = {
    ownedStream: takeOverStream({ ...stream, onEnd: () => resumedRounds.delete(key) }, peer, http),
    answers: new Map(),
  }
  resumedRounds.set(key, round)
  return round
}

// A stream belongs to one session: its id in the hand of another leads to nothing.
function resumedRoundKey({ key }: Session, streamId: string): string {
  return `${key} ${streamId}`
}

/**
 * Adds the answers that need no client: a page that was visited before is not asked for again, and the server looks
 * after it.
 */
export function fillAcceptedAnswers(
  { questions }: WaitingCall,
  answers: ReadonlyMap<string, RoundAnswer>,
): Map<string, RoundAnswer> {
  const allAnswers = [...questions].map(([key, method]): [string, RoundAnswer] => {
    const acceptedAnswer: RoundAnswer = { response: { action: 'accept' }, isClientInvolved: false }
    return [key, (method === undefined ? undefined : answers.get(key)) ?? acceptedAnswer]
  })
  return new Map(allAnswers)
}
