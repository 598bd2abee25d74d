import type { StatefulResponse } from '@x/schema'
import type { CallDeps } from '../call/call-deps.ts'
import { adoptRound } from './adopt-round.ts'
import type { HttpDeps, SessionPeer } from './http-deps.ts'

/**
 * Passes an answer to the call that waits for it at this instance or at another one, or that the `state` of the answer
 * holds (SEP-1685). Resolves with false when no call waits. An answer to a call at this instance needs no store.
 */
export async function acceptAnswer(response: StatefulResponse, peer: SessionPeer, http: HttpDeps): Promise<boolean> {
  const { deps, link } = http
  const owner = peer.session.key
  const question = deps.questions.find(owner, response.id)
  if (question !== undefined) {
    if (question.hasState && !(await isEchoAccepted(response, owner, deps))) return false
    await link?.shareAnswer(response)
    return deps.questions.answer(owner, response)
  }
  if (deps.stateRounds !== undefined && response.state !== undefined) return acceptStatefulAnswer(response, peer, http)
  return link !== undefined && (await link.takeAnswer(response, peer))
}

/** Passes on an answer whose state brings its round. */
async function acceptStatefulAnswer(response: StatefulResponse, peer: SessionPeer, http: HttpDeps): Promise<boolean> {
  const { deps, link } = http
  const owner = peer.session.key
  const round = await deps.stateRounds?.findByAnswer(response, owner)
  if (round === undefined) return false
  if (link !== undefined && (await link.takeAnswer(response, peer))) return true
  adoptRound(round, peer, { http, lastEventNumber: undefined })
  // A call that cannot wait here has ended with the reason on its stream.
  deps.questions.answer(owner, response)
  return true
}

/** The state that came with an answer is checked before the answer is used. */
async function isEchoAccepted(
  response: StatefulResponse,
  owner: string,
  { stateRounds, settings }: CallDeps,
): Promise<boolean> {
  if (stateRounds === undefined) return true
  if (response.state !== undefined) return (await stateRounds.findByAnswer(response, owner)) !== undefined
  // SEP-1685, backward compatibility: an answer without the `state` goes to the call that this instance keeps.
  stateRounds.missingEchoCount += 1
  settings.warn({ code: 'missing_echo', message: 'A client did not return the state of a question' })
  return true
}
