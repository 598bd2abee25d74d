import { randomId } from '@x/core'
import type { RequestId, RpcResponse } from '@x/schema'
import type { CallLink } from '../call-channel.ts'
import type { CallStream } from '../http/call-stream.ts'
import type { WrittenEvent } from '../http/event-id.ts'
import type { InstanceLink, LinkedCall, SessionPeer } from '../http/http-deps.ts'
import { streamIdOfQuestion } from '../question-registry.ts'
import type { LinkDeps } from './link-deps.ts'
import type { StoredCall } from './link-store.ts'
import { resumeStoredCall } from './resume-stored-call.ts'

/** The calls that wait here, and those that other instances have stored. */
export interface LinkedCalls extends Pick<InstanceLink, 'linkCall' | 'takeAnswer' | 'drain'> {
  /** Waits here for the answers of a stored call; undefined when it does so already, or there is no room. */
  resumeStoredCall(storedCall: StoredCall, peer: SessionPeer, lastEventNumber?: number): CallStream | undefined
  /** Passes an answer in the store to the call that waits here, if it does. */
  takeStoredAnswer(sessionKey: string, questionId: string): Promise<void>
  /** Leaves a call that waits for the answers of a round to another instance. */
  handOffCall(roundId: string): void
  /** Cancels a request, whose id is JSON. */
  cancelCall(sessionKey: string, requestIdJson: string): void
  /** Looks for the answers of all calls that wait here. */
  catchUp(): Promise<void>
}

interface LocalWaitingCall {
  readonly storedCall: StoredCall
  handOff(): void
}

/** Time in which an instance that waits for an answer says that it has it, in milliseconds. */
const takenMessageTimeoutMs = 1000

/** Starts with no call. */
export function createLinkedCalls(linkDeps: LinkDeps): LinkedCalls {
  return new WaitingCalls(linkDeps)
}

class WaitingCalls implements LinkedCalls {
  readonly #deps: LinkDeps
  readonly #waitingCalls = new Map<string, LocalWaitingCall>()
  #isDraining = false

  constructor(linkDeps: LinkDeps) {
    this.#deps = linkDeps
  }

  linkCall(call: LinkedCall): CallLink {
    const { store, deps } = this.#deps
    const { session, stream, handOff } = call
    let { isStored } = call
    let roundId = ''
    const removeWaitingCall = (): void => void this.#waitingCalls.delete(stream.id)
    return {
      streamId: stream.id,
      store: async (waitingCall, questions) => {
        roundId = randomId()
        const storedCall = { waitingCall, session: session.key, round: roundId, questions, askedAt: deps.now() }
        try {
          await store.putCall(storedCall)
        } catch (error) {
          deps.reportError(error)
          return false
        }
        isStored = true
        this.#waitingCalls.set(stream.id, { storedCall, handOff })
        return true
      },
      onQuestionsSent: () => (this.#isDraining ? handOff() : undefined),
      claim() {
        removeWaitingCall()
        return store.claim(roundId)
      },
      release: removeWaitingCall,
      finish: (response) => {
        removeWaitingCall()
        if (isStored) this.#finish(call, response).catch(deps.reportError)
      },
    }
  }

  async takeAnswer(response: RpcResponse, peer: SessionPeer): Promise<boolean> {
    const { store, bus, deps } = this.#deps
    const id = String(response.id)
    const { key } = peer.session
    const storedCall = await store.getCall(streamIdOfQuestion(id))
    if (storedCall?.session !== key || !storedCall.questions.some((question) => question.id === id)) return false
    await store.addAnswer(id, response)
    const takenMessagePromise = bus.waitForMessage('taken', id, takenMessageTimeoutMs)
    // The call may wait at another instance as well, which has to know that it is over there.
    bus.publish('answered', { id, session: key })
    if (deps.questions.answer(key, response)) return true
    const resumeUnclaimedCall = async (): Promise<void> => {
      if (!(await takenMessagePromise) && !(await store.isClaimed(storedCall.round)))
        this.resumeStoredCall(storedCall, peer)
    }
    resumeUnclaimedCall().catch(deps.reportError)
    return true
  }

  resumeStoredCall(storedCall: StoredCall, peer: SessionPeer, lastEventNumber?: number): CallStream | undefined {
    const { bus, getHttpDeps, store } = this.#deps
    const { streamId } = storedCall.waitingCall
    if (getHttpDeps().sessionStates.find(peer.session)?.streams.has(streamId) === true) return undefined
    bus.publish('adopted', { id: storedCall.round })
    return resumeStoredCall(storedCall, {
      peer,
      http: getHttpDeps(),
      lastEventNumber,
      store,
      onWaiting: (handOff) => void this.#waitingCalls.set(streamId, { storedCall, handOff }),
      onEnd: () => void this.#waitingCalls.delete(streamId),
    })
  }

  drain(): () => void {
    this.#isDraining = true
    for (const { handOff } of this.#waitingCalls.values()) handOff()
    return () => {
      this.#isDraining = false
    }
  }

  async takeStoredAnswer(sessionKey: string, questionId: string): Promise<void> {
    const { store, bus, deps } = this.#deps
    const { questions } = deps
    if (questions.find(sessionKey, questionId) === undefined) return
    const response = await store.getAnswer(questionId)
    if (response !== undefined && questions.answer(sessionKey, response)) bus.publish('taken', { id: questionId })
  }

  handOffCall(roundId: string): void {
    for (const { storedCall, handOff } of this.#waitingCalls.values()) if (storedCall.round === roundId) handOff()
  }

  cancelCall(sessionKey: string, requestIdJson: string): void {
    const state = this.#deps.getHttpDeps().sessionStates.find({ key: sessionKey })
    // `cancelRequest` wrote it.
    state?.calls.get(JSON.parse(requestIdJson) as RequestId)?.cancel()
  }

  async catchUp(): Promise<void> {
    for (const { storedCall } of Array.from(this.#waitingCalls.values())) {
      for (const { id } of storedCall.questions) await this.takeStoredAnswer(storedCall.session, id)
    }
  }

  async #finish({ stream, session }: LinkedCall, response: WrittenEvent | undefined): Promise<void> {
    const { store } = this.#deps
    if (response !== undefined) await store.putResponse(stream.id, { session: session.key, ...response })
    await store.deleteCall(stream.id)
  }
}
