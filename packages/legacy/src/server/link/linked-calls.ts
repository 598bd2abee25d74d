import { randomId } from '@x/core'
import type { RequestId, RpcResponse } from '@x/schema'
import type { CallLink } from '../call-channel.ts'
import type { CallStream } from '../http/call-stream.ts'
import type { WrittenEvent } from '../http/event-id.ts'
import type { InstanceLink, LinkedCall, SessionPeer } from '../http/http-deps.ts'
import { streamOfQuestion } from '../question-registry.ts'
import type { LinkDeps } from './link-deps.ts'
import type { StoredCall } from './link-store.ts'
import { resumeStoredCall } from './resume-stored-call.ts'

/** The calls that wait here, and those that other instances have stored. */
export interface LinkedCalls extends Pick<InstanceLink, 'linkCall' | 'takeAnswer' | 'drain'> {
  /** Waits here for the answers of a stored call; undefined when it does so already, or there is no room. */
  resumeStored(stored: StoredCall, peer: SessionPeer, lastEvent?: number): CallStream | undefined
  /** Passes an answer in the store to the call that waits here, if it does. */
  takeStoredAnswer(session: string, question: string): Promise<void>
  /** Leaves a call that waits for the answers of a round to another instance. */
  handOffCall(round: string): void
  /** Cancels a request, whose id is JSON. */
  cancelCall(session: string, request: string): void
  /** Looks for the answers of all calls that wait here. */
  catchUp(): Promise<void>
}

interface LocalWaitingCall {
  readonly storedCall: StoredCall
  move(): void
}

/** Time in which an instance that waits for an answer says that it has it, in milliseconds. */
const takenMessageTimeoutMs = 1000

/** Starts with no call. */
export function createLinkedCalls(parts: LinkDeps): LinkedCalls {
  return new WaitingCalls(parts)
}

class WaitingCalls implements LinkedCalls {
  readonly #parts: LinkDeps
  readonly #waiting = new Map<string, LocalWaitingCall>()
  #isDraining = false

  constructor(parts: LinkDeps) {
    this.#parts = parts
  }

  linkCall(call: LinkedCall): CallLink {
    const { store, deps } = this.#parts
    const { session, stream, handOff } = call
    let { isStored } = call
    let round = ''
    const leave = (): void => void this.#waiting.delete(stream.id)
    return {
      streamId: stream.id,
      store: async (waiting, questions) => {
        round = randomId()
        const stored = { waiting, session: session.key, round, questions, askedAt: deps.now() }
        try {
          await store.putCall(stored)
        } catch (error) {
          deps.reportError(error)
          return false
        }
        isStored = true
        this.#waiting.set(stream.id, { storedCall: stored, move: handOff })
        return true
      },
      onQuestionsSent: () => (this.#isDraining ? handOff() : undefined),
      claim() {
        leave()
        return store.claim(round)
      },
      release: leave,
      finish: (response) => {
        leave()
        if (isStored) this.#finish(call, response).catch(deps.reportError)
      },
    }
  }

  async takeAnswer(response: RpcResponse, peer: SessionPeer): Promise<boolean> {
    const { store, bus, deps } = this.#parts
    const id = String(response.id)
    const { key } = peer.session
    const stored = await store.getCall(streamOfQuestion(id))
    if (stored?.session !== key || !stored.questions.some((question) => question.id === id)) return false
    await store.addAnswer(id, response)
    const taken = bus.waitFor('taken', id, takenMessageTimeoutMs)
    // The call may wait at another instance as well, which has to know that it is over there.
    bus.publish('answered', { id, session: key })
    if (deps.questions.answer(key, response)) return true
    const adoptUntaken = async (): Promise<void> => {
      if (!(await taken) && !(await store.isClaimed(stored.round))) this.resumeStored(stored, peer)
    }
    adoptUntaken().catch(deps.reportError)
    return true
  }

  resumeStored(stored: StoredCall, peer: SessionPeer, lastEvent?: number): CallStream | undefined {
    const { bus, http, store } = this.#parts
    const { streamId } = stored.waiting
    if (http().sessionStates.find(peer.session)?.streams.has(streamId) === true) return undefined
    bus.publish('adopted', { id: stored.round })
    return resumeStoredCall(stored, {
      peer,
      http: http(),
      lastEventNumber: lastEvent,
      store,
      onWaiting: (move) => void this.#waiting.set(streamId, { storedCall: stored, move }),
      onEnd: () => void this.#waiting.delete(streamId),
    })
  }

  drain(): () => void {
    this.#isDraining = true
    for (const { move } of this.#waiting.values()) move()
    return () => {
      this.#isDraining = false
    }
  }

  async takeStoredAnswer(session: string, question: string): Promise<void> {
    const { store, bus, deps } = this.#parts
    const { questions } = deps
    if (questions.find(session, question) === undefined) return
    const response = await store.getAnswer(question)
    if (response !== undefined && questions.answer(session, response)) bus.publish('taken', { id: question })
  }

  handOffCall(round: string): void {
    for (const { storedCall, move } of this.#waiting.values()) if (storedCall.round === round) move()
  }

  cancelCall(session: string, request: string): void {
    const state = this.#parts.http().sessionStates.find({ key: session })
    // `cancelRequest` wrote it.
    state?.calls.get(JSON.parse(request) as RequestId)?.cancel()
  }

  async catchUp(): Promise<void> {
    for (const { storedCall } of Array.from(this.#waiting.values())) {
      for (const { id } of storedCall.questions) await this.takeStoredAnswer(storedCall.session, id)
    }
  }

  async #finish({ stream, session }: LinkedCall, response: WrittenEvent | undefined): Promise<void> {
    const { store } = this.#parts
    if (response !== undefined) await store.putResponse(stream.id, { session: session.key, ...response })
    await store.deleteCall(stream.id)
  }
}
