import type { WaitingRound } from '../call/waiting-round.ts'
import type { CallStream } from './call-stream.ts'
import type { HttpDeps } from './http-deps.ts'
import type { SessionPeer } from './peer.ts'
import { serveAdoptedRound } from './serve-requests.ts'

// Leaves a gap in the event numbers, because the other instance may have sent more events than this one knows.
const eventNumberGap = 1000

/**
 * Continues a round whose questions another instance has sent, or this one before a restart: waits for the answers, and
 * then runs the call unless another instance claims the round. Returns the call's stream, or undefined if this instance
 * already has the stream or the call.
 */
export function adoptRound(
  round: WaitingRound,
  peer: SessionPeer,
  {
    http,
    lastEventNumber,
  }: {
    readonly http: HttpDeps
    /** Number of the last event that the client has received. Undefined if the client does not read the stream here. */
    readonly lastEventNumber: number | undefined
  },
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
    // The reader's connection is already open.
    stream.resume({ ...reader.reply, open: () => {} }, reader.lastEventNumber)
  }
  return stream
}

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
