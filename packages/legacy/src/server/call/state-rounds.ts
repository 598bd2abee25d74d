import { BoundedMap } from '@x/core'
import type { JsonValue, RpcRequest, StatefulResponse } from '@x/schema'
import { isStateError, isStateUsageError } from '@x/state-codec'
import type { LegacyClient } from '../../translate/request.ts'
import type { LegacySettings, QuestionStateSettings } from '../session/options.ts'
import type { RoundStore, StoredRound } from './round-store.ts'
import { decodeRound, encodeRound, type RoundQuestion, type WaitingRound } from './waiting-round.ts'

const statePurpose = 'legacy-state'
const maxWithdrawnQuestions = 100_000

/** Seals each round in the `state` of its questions, which the client returns with its answers (SEP-1685). */
export class StateRounds implements RoundStore {
  readonly #questionState: QuestionStateSettings
  readonly #settings: LegacySettings
  readonly #withdrawnQuestions = new BoundedMap<string, true>(maxWithdrawnQuestions)
  #missingEchoCount = 0

  constructor(questionState: QuestionStateSettings, settings: LegacySettings) {
    this.#questionState = questionState
    this.#settings = settings
  }

  /** How many answers came without a `state`, although their question was sent with one. */
  get missingEchoCount(): number {
    return this.#missingEchoCount
  }

  countMissingEcho(): void {
    this.#missingEchoCount += 1
  }

  /** Stops accepting a question's `state` here, because this instance does not wait for the question any more. */
  withdraw(questionId: string): void {
    this.#withdrawnQuestions.set(questionId, true)
  }

  async keep(round: WaitingRound, { capabilities }: LegacyClient): Promise<StoredRound> {
    const states = new Map<string, string>()
    // STA-008: a client gets a `state` only if it has declared that it returns the `state`. Over a pair of streams no
    // `state` is sent, because the streams end with the process.
    const returnsStates = capabilities.experimental?.['requestState'] !== undefined
    if (!returnsStates || round.streamId === '') return { states, isShared: false }
    for (const question of round.questions) {
      const state = await this.#seal(round, question)
      if (state !== undefined) states.set(question.id, state)
    }
    return { states, isShared: false }
  }

  /**
   * Seals a round for one of its questions. Undefined if `questionState` returns false for the question, or if the
   * state is too large.
   */
  async #seal(round: WaitingRound, { id, method }: RoundQuestion): Promise<string | undefined> {
    const { codec, isChosen } = this.#questionState
    if (!isChosen({ method, tool: toolNameIn(round.request) })) return undefined
    const { answerTimeoutMs, resumeWindowMs, warn } = this.#settings
    try {
      return await codec.seal(encodeRound(round, { withParams: false }), {
        purpose: statePurpose,
        binding: bindingOf(round.owner, id),
        ttlMs: answerTimeoutMs + resumeWindowMs,
      })
    } catch (error) {
      if (!isStateError(error) && !isStateUsageError(error)) throw error
      warn({ code: 'limit', message: `The state of a question was left out: ${error.message}` })
      return undefined
    }
  }

  /** Opens an answer's state, which works once (STA-005, STA-006). */
  async findByAnswer({ id, state }: StatefulResponse, owner: string): Promise<WaitingRound | undefined> {
    const questionId = String(id)
    if (typeof state !== 'string' || this.#withdrawnQuestions.has(questionId)) return undefined
    try {
      const binding = bindingOf(owner, questionId)
      return decodeRound(await this.#questionState.codec.open(state, { purpose: statePurpose, binding }))
    } catch (error) {
      // If the codec's store is unreachable, the state may still be valid.
      if (!isStateError(error) || error.code === 'unavailable') throw error
      const message = `The state of an answer was not accepted: ${error.detail}`
      this.#settings.warn({ code: 'state_rejected', message })
      return undefined
    }
  }

  /** The store does not know a round before an answer with its state arrives. */
  async findByStream(): Promise<undefined> {}

  async listAnswers(): Promise<readonly []> {
    return []
  }

  /** A state can be opened once, so no other instance can have the round. */
  async claim(): Promise<true> {
    return true
  }

  release(): void {}
}

function toolNameIn({ method, params }: RpcRequest): string | undefined {
  const name = method === 'tools/call' ? params?.['name'] : undefined
  return typeof name === 'string' ? name : undefined
}

// Binds a state to its owner, which is bound to a principal, and to its question, which is bound to a call.
function bindingOf(owner: string, questionId: string): JsonValue {
  return [owner, questionId]
}
