import type { WaitingRound } from '../call/waiting-round.ts'
import type { CallStream } from './call-stream.ts'
import type { HttpDeps, SessionPeer } from './http-deps.ts'
import { serveAdoptedRound } from './serve-requests.ts'

/** The instance that continues a round, and the position of its reader. */
export interface AdoptionOptions {
  readonly http: HttpDeps
  /** The number of the last event that the client has, undefined while it reads nothing. */
  readonly lastEventNumber: number | undefined
}

// Between a question and its answer the stream may have had a few more events.
const eventNumberGap = 1000

/**
 * Continues a round that another instance has asked, or this instance before a restart. It waits for the answers, and
 * runs the call with them unless another instance claims the round. Returns the stream of the call, undefined when this
 * instance has the stream already.
 */
export function adoptRound(
  round: WaitingRound,
  peer: SessionPeer,
  { http, lastEventNumber }: AdoptionOptions,
): CallStream | undefined {
  const { streamId, eventCount, request } = round
  const state = http.sessionStates.find(peer.session)
  if (state !== undefined && (state.streams.has(streamId) || state.calls.has(request.id))) return undefined
  const reader = state?.waitingReaders.get(streamId)
  const firstEventNumber = Math.max(eventCount, lastEventNumber ?? reader?.lastEventNumber ?? 0) + eventNumberGap
  const stream = serveAdoptedRound(round, peer, { http, firstEventNumber })
  if (lastEventNumber !== undefined) sendUnseenQuestions(round, lastEventNumber, stream)
  if (reader !== undefined) {
    reader.release()
    // Its connection is open already.
    stream.resume({ ...reader.reply, open: () => {} }, reader.lastEventNumber)
  }
  return stream
}

/** Sends the questions that the client has not received. */
function sendUnseenQuestions(
  { questions, eventCount }: WaitingRound,
  lastEventNumber: number,
  stream: CallStream,
): void {
  for (const [index, { id, method, params }] of questions.entries()) {
    if (eventCount + 1 + index <= lastEventNumber) continue
    stream.send({ jsonrpc: '2.0', id, method, ...(params && { params }) }, false)
  }
}
