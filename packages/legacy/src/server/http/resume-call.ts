import type { RpcResponse } from '@x/schema'
import { toAnswer, type RoundAnswer } from '../ask-client.ts'
import type { OpenedState, WaitingCall } from '../question-state.ts'
import type { Session } from '../session.ts'
import type { HttpDeps, ResumedRound, SessionPeer, TakenStream } from './peer.ts'
import { type ResumedStream, takeOver } from './serve-requests.ts'

const maxRounds = 10_000
const maxRoundsOfSession = 64
// Between a question and its state the stream may have had a few more events.
const eventGap = 1000

/**
 * Takes an answer whose state carries its call (SEP-1685). With the last answer of the round the call goes on; its response waits for
 * the client to resume the stream. Returns false when there is no room.
 */
export function resumeCall({ key, call }: OpenedState, response: RpcResponse, at: ResumePosition): boolean {
  const round = roundOf({ id: call.stream, firstEvent: call.events + eventGap }, at)
  if (round === undefined) return false
  const method = call.questions.get(key)
  if (method !== undefined) round.answers.set(key, toAnswer(method, response))
  const open = [...call.questions].some(([name, kind]) => kind !== undefined && !round.answers.has(name))
  if (open) return true
  at.http.rounds.delete(roundKey(at.peer.session, call.stream))
  round.taken.run({ waiting: call, answers: withAccepted(call, round.answers) })
  return true
}

/** The client of a call that is resumed, and the instance. */
export interface ResumePosition {
  readonly peer: SessionPeer
  readonly http: HttpDeps
}

/** Gives the stream of a call that waits, though nothing is known of it here but the id of its last event. */
export function streamOfWaiting(id: string, lastEvent: number, at: ResumePosition): TakenStream | undefined {
  return roundOf({ id, firstEvent: lastEvent + eventGap }, at)?.taken
}

function roundOf(stream: Omit<ResumedStream, 'onEnd'>, { peer, http }: ResumePosition): ResumedRound | undefined {
  const { rounds } = http
  const { session } = peer
  const key = roundKey(session, stream.id)
  const known = rounds.get(key)
  if (known !== undefined) return known
  if (rounds.size >= maxRounds || http.states.find(session)?.streams.has(stream.id) === true) return undefined
  const own = [...rounds.values()].filter(({ taken: { owner } }) => owner === session.key)
  if (own.length >= maxRoundsOfSession) return undefined
  const round = { taken: takeOver({ ...stream, onEnd: () => rounds.delete(key) }, peer, http), answers: new Map() }
  rounds.set(key, round)
  return round
}

// A stream belongs to one session: its id in the hand of another leads to nothing.
function roundKey({ key }: Session, streamId: string): string {
  return `${key} ${streamId}`
}

/** Adds the answers that need no client: a page that was visited before is not asked for again, and the server looks after it. */
export function withAccepted(
  { questions }: WaitingCall,
  answers: ReadonlyMap<string, RoundAnswer>,
): Map<string, RoundAnswer> {
  const all = [...questions].map(([key, method]): [string, RoundAnswer] => {
    const accepted: RoundAnswer = { response: { action: 'accept' }, involved: false }
    return [key, (method === undefined ? undefined : answers.get(key)) ?? accepted]
  })
  return new Map(all)
}
