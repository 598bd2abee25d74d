import { callerKeyOf, type RpcResponse } from '@x/schema'
import { type RoundAnswer, toRoundAnswer, createFailedAnswer } from '../ask-client.ts'
import type { CallStream } from '../http/call-stream.ts'
import type { HttpDeps, SessionPeer, OwnedStream } from '../http/http-deps.ts'
import { fillAcceptedAnswers } from '../http/resume-call.ts'
import { takeOverStream } from '../http/serve-requests.ts'
import type { AcceptedPage } from '../question-state.ts'
import type { LinkStore, StoredCall, StoredQuestion } from './link-store.ts'

/** Dependencies of {@link resumeStoredCall}. */
export interface StoredCallOptions {
  readonly peer: SessionPeer
  readonly http: HttpDeps
  readonly store: LinkStore
  /** The number of the last event that the client has; undefined while it reads nothing. */
  readonly lastEventNumber: number | undefined
  /** The call waits here, until `onEnd`. `handOff` leaves it to other instances. */
  readonly onWaiting: (handOff: () => void) => void
  /** The call waits here no more. */
  readonly onEnd: () => void
}

// Between a question and its answer the stream may have had a few more events.
const eventNumberGap = 1000

/**
 * Waits at this instance for the answers of a stored call, of which some may be in the store, and runs it on with them
 * unless another instance does. Returns its stream; undefined when the session has too many open questions.
 */
export function resumeStoredCall(storedCall: StoredCall, options: StoredCallOptions): CallStream | undefined {
  const { peer, http, lastEventNumber, onWaiting } = options
  const { waitingCall, questions } = storedCall
  const round = new ResumedStoredRound(storedCall, options)
  if (!round.openQuestions()) return undefined
  const { stream } = round.ownedStream
  http.sessionStates
    .getOrCreate(peer.session, callerKeyOf(peer.view))
    .calls.set(waitingCall.request.id, { cancel: () => round.cancel() })
  onWaiting(() => stream.release())
  if (lastEventNumber !== undefined) sendUnseenQuestions(questions, lastEventNumber, stream)
  round.takeStoredAnswers().catch((error: unknown) => round.fail(error))
  return stream
}

/** The round of a stored call, until all of its answers are here. */
class ResumedStoredRound {
  readonly ownedStream: OwnedStream
  readonly #storedCall: StoredCall
  readonly #options: StoredCallOptions
  readonly #answers = new Map<string, RoundAnswer>()
  #isWaiting = true
  readonly #cancelTimer: () => void

  constructor(storedCall: StoredCall, options: StoredCallOptions) {
    const { peer, http, lastEventNumber = 0 } = options
    const { id: requestId } = storedCall.waitingCall.request
    const { streamId: id, eventCount } = storedCall.waitingCall
    const firstEventNumber = Math.max(eventCount, lastEventNumber) + eventNumberGap
    this.#storedCall = storedCall
    this.#options = options
    this.ownedStream = takeOverStream({ id, requestId, firstEventNumber, onEnd: () => this.#stopWaiting() }, peer, http)
    const { now, schedule, settings } = http.deps
    const remainingMs = Math.max(1, storedCall.askedAt + settings.answerTimeoutMs - now())
    this.#cancelTimer = schedule(() => this.#failOpenQuestions(), remainingMs)
  }

  /** Waits for the answers of clients; false when there are too many questions. */
  openQuestions(): boolean {
    const { http, peer } = this.#options
    for (const question of this.#storedCall.questions) {
      const onAnswer = (response: RpcResponse): void =>
        this.#acceptAnswer(question, toRoundAnswer(question.method, response))
      const openedQuestion = http.deps.questions.open(peer.session.key, onAnswer, question.id)
      if (openedQuestion === undefined) {
        this.ownedStream.stream.abandon()
        return false
      }
      openedQuestion.isStored = true
    }
    return true
  }

  async takeStoredAnswers(): Promise<void> {
    const { store, http, peer } = this.#options
    for (const { id } of this.#storedCall.questions) {
      const response = await store.getAnswer(id)
      if (response !== undefined) http.deps.questions.answer(peer.session.key, response)
    }
  }

  cancel(): void {
    const { store, http } = this.#options
    this.ownedStream.stream.abandon()
    store.deleteCall(this.#storedCall.waitingCall.streamId).catch(http.deps.reportError)
  }

  fail(error: unknown): void {
    this.#options.http.deps.reportError(error)
    this.ownedStream.stream.release()
  }

  #acceptAnswer({ key }: StoredQuestion, answer: RoundAnswer): void {
    this.#answers.set(key, answer)
    if (this.#answers.size === this.#storedCall.questions.length)
      this.#continueCall().catch((error: unknown) => this.fail(error))
  }

  #failOpenQuestions(): void {
    for (const question of this.#storedCall.questions) {
      if (this.#answers.has(question.key)) continue
      this.#acceptAnswer(question, createFailedAnswer(question.method, 'The client did not answer in time'))
    }
  }

  async #continueCall(): Promise<void> {
    const { waitingCall, round } = this.#storedCall
    const { store, http } = this.#options
    this.#stopWaiting()
    if (!(await store.claim(round))) return this.ownedStream.stream.release()
    const pages = [...waitingCall.pages, ...collectAcceptedPages(this.#storedCall, this.#answers, http.deps.now())]
    this.ownedStream.run({
      waitingCall: { ...waitingCall, pages },
      answers: fillAcceptedAnswers(waitingCall, this.#answers),
    })
  }

  /** Waits no more. */
  #stopWaiting(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.#cancelTimer()
    const { http, peer, onEnd } = this.#options
    const { questions, waitingCall } = this.#storedCall
    onEnd()
    for (const { id } of questions) http.deps.questions.find(peer.session.key, id)?.close()
    http.sessionStates.find(peer.session)?.calls.delete(waitingCall.request.id)
  }
}

/** Sends the questions that the client has not received. */
function sendUnseenQuestions(questions: readonly StoredQuestion[], lastEventNumber: number, stream: CallStream): void {
  for (const { id, method, params, number } of questions) {
    if (number > lastEventNumber) stream.send({ jsonrpc: '2.0', id, method, ...(params && { params }) }, false)
  }
}

/** The pages that the user has agreed to in this round. */
function collectAcceptedPages(
  { questions }: StoredCall,
  answers: ReadonlyMap<string, RoundAnswer>,
  acceptedAt: number,
): AcceptedPage[] {
  return questions.flatMap(({ key, params }): AcceptedPage[] => {
    const answer = answers.get(key)
    const { url, elicitationId } = params ?? {}
    const isAccepted = answer !== undefined && 'response' in answer && answer.response['action'] === 'accept'
    if (!isAccepted || typeof url !== 'string' || typeof elicitationId !== 'string') return []
    return [{ url, elicitationId, acceptedAt }]
  })
}
