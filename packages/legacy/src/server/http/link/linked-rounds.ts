import { callerKeyOf } from '@x/exchange'
import type { RpcResponse } from '@x/schema'
import { isStateError } from '@x/state-codec'
import { type StoredRound, type RoundStore, streamIdOfQuestion } from '../../call/round-store.ts'
import type { WaitingRound } from '../../call/waiting-round.ts'
import type { LegacySessionState } from '../../session/session-state.ts'
import type { CallStream } from '../call-stream.ts'
import type { WrittenEvent } from '../event-id.ts'
import type { SessionPeer } from '../peer.ts'
import { isStreamOf } from '../stream-id.ts'
import type { LinkContext } from './link-context.ts'

/** Milliseconds in which an instance that waits for an answer must respond to a message about it. */
const messageTimeoutMs = 1000
/**
 * Milliseconds for which an answer is held while the store is unreachable, or has lost the answer's round. Clients of
 * older revisions do not send an answer again.
 */
const answerHoldMs = 20_000
/** How long an answer to a round that waits here may take to be stored. After that it is used anyway. */
const shareTimeoutMs = 1000

/** Stores rounds in the store that several instances share, and those that wait at this instance also in memory. */
export class LinkedRounds implements RoundStore {
  readonly #context: LinkContext
  // Bounded by `waiting_calls` and `bytes` of the ledger.
  readonly #roundsHere = new Map<
    string,
    {
      readonly round: WaitingRound
      readonly callerKey: string
      readonly sharedAnswers: Map<string, RpcResponse>
      handOff(): void
    }
  >()
  readonly #claimsHere = new WeakMap<
    object,
    { readonly roundId: string; readonly claimant: string; readonly owner: string }
  >()
  #isDraining = false

  constructor(context: LinkContext) {
    this.#context = context
  }

  async keep(round: WaitingRound): Promise<StoredRound> {
    const { store, deps } = this.#context
    const states = new Map<string, string>()
    try {
      await store.putRound(round, this.#callerKeyOfRound(round))
      return { states, isShared: true }
    } catch (error) {
      if (isStateError(error) && error.code !== 'unavailable') throw error
      // Without the record, only this instance can continue the call, until the store can be reached again. But a store
      // may reject although it has the record.
      deps.reportError(error)
      return { states, isShared: false, mayBeShared: true }
    }
  }

  async findByAnswer({ id }: Pick<RpcResponse, 'id'>, owner: string): Promise<WaitingRound | undefined> {
    const round = await this.findByStream(streamIdOfQuestion(String(id)), owner)
    return round?.questions.some((question) => question.id === id) === true ? round : undefined
  }

  async findByStream(streamId: string, owner: string): Promise<WaitingRound | undefined> {
    const round = await this.#context.store.getRound(streamId)
    return round?.owner === owner ? round : undefined
  }

  async listAnswers({ questions }: WaitingRound): Promise<readonly RpcResponse[]> {
    const answers = await Promise.all(questions.map(({ id }) => this.#context.store.getAnswer(id)))
    return answers.filter((answer) => answer !== undefined)
  }

  async claim(round: WaitingRound, claimant: string): Promise<boolean> {
    const owner = this.#callerKeyOfRound(round)
    const isClaimed = await this.#context.store.claim(round.id, { claimant, owner })
    if (!isClaimed) return false
    const stream = this.#context.sessionStates.find({ key: round.owner })?.streams.get(round.streamId)
    if (stream !== undefined) this.#claimsHere.set(stream, { roundId: round.id, claimant, owner })
    // Another instance may wait for the same answers, and would never receive them.
    this.#context.bus.publish('adopted', { id: round.id })
    return true
  }

  release({ id, streamId }: WaitingRound): void {
    if (this.#roundsHere.get(streamId)?.round.id === id) this.#roundsHere.delete(streamId)
  }

  /** Calls `handOff` if another instance continues the round, or if this one stops. */
  watch(round: WaitingRound, callerKey: string, handOff: () => void): void {
    // Bounded by the questions of one waiting round.
    this.#roundsHere.set(round.streamId, { round, callerKey, sharedAnswers: new Map(), handOff })
    if (this.#isDraining) handOff()
  }

  /**
   * Accepts an answer to a round that waits at another instance, or at none; then the round continues here. Resolves
   * with false if no round has the question. While the store or the bus may have lost something, first looks for the
   * round for `answerHoldMs`.
   */
  async takeAnswer(response: RpcResponse, peer: SessionPeer): Promise<boolean> {
    const owner = peer.session.key
    const id = String(response.id)
    const found = await this.#findRound(id, owner)
    if (found === undefined) return false
    await this.#storeAnswer(response, peer)
    const adoptWithAnswer = (round: WaitingRound): void => {
      this.adopt(round, peer)
      // The store may lose the answer before the round reads it.
      this.#context.deps.questions.answer(owner, response)
    }
    this.#deliverAnswer(response, peer, found.round, adoptWithAnswer).catch(this.#context.deps.reportError)
    return true
  }

  /**
   * Finds a question's round. `round` is undefined if another instance waits for the answer and the store does not have
   * the round. Resolves with undefined if no instance waits.
   */
  async #findRound(id: string, owner: string): Promise<{ readonly round: WaitingRound | undefined } | undefined> {
    const { store, bus, deps } = this.#context
    const searchesUntil = deps.now() + answerHoldMs
    for (;;) {
      const round = await deps.retryUnavailable(() => this.findByAnswer({ id }, owner), { timeoutMs: answerHoldMs })
      if (round !== undefined) return { round }
      if (!(await isStreamOf(streamIdOfQuestion(id), owner))) return undefined
      // A store that came back with an older state has lost the round, but an instance may still wait for the answer.
      if (await deps.retryUnavailable(() => store.mark(), { timeoutMs: answerHoldMs })) bus.noteGap()
      const [isWaiting, mayBeLost] = await Promise.all([this.#isWaitingElsewhere(id, owner), bus.mayHaveLostMessages()])
      if (isWaiting) return { round: undefined }
      if (!mayBeLost || deps.now() >= searchesUntil) return undefined
    }
  }

  async #isWaitingElsewhere(id: string, owner: string): Promise<boolean> {
    const { bus } = this.#context
    const waiting = bus.waitForMessage(['waiting'], id, messageTimeoutMs)
    bus.publish('offered', { id, session: owner })
    return (await waiting) !== undefined
  }

  async #storeAnswer(response: RpcResponse, { view }: SessionPeer): Promise<void> {
    const { store, deps } = this.#context
    const add = (): Promise<void> => store.addAnswer(String(response.id), response, callerKeyOf(view))
    await deps.retryUnavailable(add, { timeoutMs: answerHoldMs })
  }

  /**
   * Offers a stored answer to the instance that waits for it. If none takes it, `adopt` continues the round here.
   * Without the round, the answer is stored and offered again, because the store may have lost it too.
   */
  async #deliverAnswer(
    response: RpcResponse,
    peer: SessionPeer,
    round: WaitingRound | undefined,
    adopt: (round: WaitingRound) => void,
  ): Promise<void> {
    const { store, bus, deps } = this.#context
    const id = String(response.id)
    const offersUntil = deps.now() + answerHoldMs
    for (;;) {
      const taken = bus.waitForMessage(['taken'], id, messageTimeoutMs)
      bus.publish('answered', { id, session: peer.session.key })
      if ((await taken) !== undefined) return
      if (round !== undefined) return (await store.isClaimed(round.id)) ? undefined : adopt(round)
      if (deps.now() >= offersUntil) return
      await this.#storeAnswer(response, peer)
    }
  }

  /**
   * Stores an answer to a round that waits here: another instance needs it if this one ends before it has all answers.
   */
  async shareAnswer(response: RpcResponse): Promise<void> {
    const { store, deps } = this.#context
    const id = String(response.id)
    const here = this.#roundsHere.get(streamIdOfQuestion(id))
    if (here === undefined || here.round.questions.length === 1) return
    here.sharedAnswers.set(id, response)
    const sharing = store.addAnswer(id, response, here.callerKey).catch(deps.reportError)
    await Promise.race([sharing, deps.sleep(shareTimeoutMs, new AbortController().signal)])
  }

  /** Continues a round here that another instance kept, and notifies that one. */
  adopt(round: WaitingRound, peer: SessionPeer, lastEventNumber?: number): CallStream | undefined {
    const { store, bus, deps, continueRound } = this.#context
    const stream = continueRound(round, peer, lastEventNumber)
    if (stream === undefined) return undefined
    bus.publish('adopted', { id: round.id })
    // Another instance may have claimed the round before this one began to watch it. The message about that was missed
    // then, so the store is checked.
    const leaveClaimedRound = async (): Promise<void> => {
      if (await store.isClaimedElsewhere(round.id)) this.handOffRound(round.id)
    }
    leaveClaimedRound().catch(deps.reportError)
    return stream
  }

  /** Passes a stored answer to its call, if the call waits here. */
  async takeStoredAnswer(owner: string, questionId: string): Promise<void> {
    const { store, bus, deps } = this.#context
    if (!this.hasQuestion(owner, questionId)) return
    const response = await store.getAnswer(questionId)
    if (response === undefined) return
    this.#roundsHere.get(streamIdOfQuestion(questionId))?.sharedAnswers.set(questionId, response)
    if (deps.questions.answer(owner, response)) bus.publish('taken', { id: questionId })
  }

  /** True if this instance waits for the answer to a question. */
  hasQuestion(owner: string, questionId: string): boolean {
    return this.#context.deps.questions.find(owner, questionId) !== undefined
  }

  /** Hands a round that waits here over to another instance. */
  handOffRound(roundId: string): void {
    for (const { round, handOff } of Array.from(this.#roundsHere.values())) if (round.id === roundId) handOff()
  }

  /** Stores the response of a session's call, and deletes its round. */
  async finish(
    streamId: string,
    session: Pick<LegacySessionState, 'key' | 'callerKey'>,
    response: WrittenEvent | undefined,
  ): Promise<void> {
    const { store, bus } = this.#context
    const { key, callerKey } = session
    if (response !== undefined) await store.putResponse(streamId, { session: key, ...response }, callerKey)
    bus.publish('finished', { id: streamId, session: key })
    await store.deleteRound(streamId)
  }

  /** Stores a round that waits here again, if the store has lost it or has an earlier round of the call. */
  async restoreRound(streamId: string): Promise<void> {
    const { store } = this.#context
    const here = this.#roundsHere.get(streamId)
    if (here === undefined) return
    await store.restoreRound(here.round, here.callerKey)
    for (const [id, answer] of here.sharedAnswers) await store.addAnswer(id, answer, here.callerKey)
  }

  /**
   * Repairs what the store or the bus may have lost: stores this instance's rounds, answers and claims again, and reads
   * the answers to its questions.
   */
  async catchUp(): Promise<void> {
    const { store, sessionStates } = this.#context
    for (const { streams } of sessionStates.list()) {
      for (const stream of Array.from(streams.values())) {
        const claim = this.#claimsHere.get(stream)
        if (claim !== undefined) await store.claim(claim.roundId, claim)
      }
    }
    for (const { round, handOff } of Array.from(this.#roundsHere.values())) {
      if (await store.isClaimedElsewhere(round.id)) {
        handOff()
        continue
      }
      await this.restoreRound(round.streamId)
      for (const { id } of round.questions) await this.takeStoredAnswer(round.owner, id)
    }
  }

  drain(): () => void {
    this.#isDraining = true
    for (const { handOff } of Array.from(this.#roundsHere.values())) handOff()
    return () => {
      this.#isDraining = false
    }
  }

  /**
   * The caller in whose quota a round's records count. The round's call runs here, so this instance knows the session.
   * If that has just ended, its key is used.
   */
  #callerKeyOfRound({ owner }: WaitingRound): string {
    return this.#context.sessionStates.find({ key: owner })?.callerKey ?? owner
  }
}
