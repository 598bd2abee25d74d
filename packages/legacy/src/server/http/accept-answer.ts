import type { StatefulResponse } from '@x/schema'
import type { CallDeps } from '../call/call-deps.ts'
import { adoptRound } from './adopt-round.ts'
import type { HttpDeps } from './http-deps.ts'
import type { SessionPeer } from './peer.ts'

/**
 * Brings an answer to the call that waits for it: at this instance, at another one, or sealed in the answer's own
 * `state` (SEP-1685). Resolves with false if no call waits. A call that waits here gets its answer even when the store
 * is unreachable.
 */
export async function acceptAnswer(response: StatefulResponse, peer: SessionPeer, http: HttpDeps): Promise<boolean> {
  const { callDeps, link } = http
  const owner = peer.session.key
  const question = callDeps.questions.find(owner, response.id)
  if (question !== undefined) {
    if (question.hasState && !(await isEchoAccepted(response, owner, callDeps))) return false
    await link?.rounds.shareAnswer(response)
    return callDeps.questions.answer(owner, response)
  }
  if (callDeps.stateRounds !== undefined && response.state !== undefined)
    return acceptStatefulAnswer(response, peer, http)
  return link !== undefined && (await link.rounds.takeAnswer(response, peer))
}

/**
 * Accepts an answer whose `state` contains its round, which continues at another instance that waits for the answer, or
 * here. Resolves with false if the state is not valid.
 */
async function acceptStatefulAnswer(response: StatefulResponse, peer: SessionPeer, http: HttpDeps): Promise<boolean> {
  const { callDeps, link } = http
  const owner = peer.session.key
  const round = await callDeps.stateRounds?.findByAnswer(response, owner)
  if (round === undefined) return false
  if (link !== undefined && (await link.rounds.takeAnswer(response, peer))) return true
  adoptRound(round, peer, { http, lastEventNumber: undefined })
  // True even if the call cannot wait here. In that case it has ended with an error on its stream.
  callDeps.questions.answer(owner, response)
  return true
}

/** True if an answer may be used for a question that was sent with a state: the answer has a valid state or none. */
async function isEchoAccepted(
  response: StatefulResponse,
  owner: string,
  { stateRounds, settings }: CallDeps,
): Promise<boolean> {
  if (stateRounds === undefined) return true
  if (response.state !== undefined) return (await stateRounds.findByAnswer(response, owner)) !== undefined
  // SEP-1685, backward compatibility: an answer without a `state` is accepted if its call waits at this instance.
  stateRounds.countMissingEcho()
  settings.warn({ code: 'missing_echo', message: 'A client did not return the state of a question' })
  return true
}
