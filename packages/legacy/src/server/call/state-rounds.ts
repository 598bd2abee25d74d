import type { JsonValue, RpcRequest } from '@x/schema'
import { isStateError, isStateUsageError } from '@x/state-codec'
import type { LegacySettings } from '../session/options.ts'
import { createBoundedMap } from '../session/session.ts'
import type { RoundStore } from './round-store.ts'
import { decodeRound, encodeRound, type RoundQuestion, type WaitingRound } from './waiting-round.ts'

/** Seals each round in the `state` of its questions, which the client returns with its answers (SEP-1685). */
export interface StateRounds extends RoundStore {
  /** How many answers came without a `state`, although their question was sent with one. */
  readonly missingEchoCount: number
  countMissingEcho(): void
  /** Stops accepting a question's `state` here, because this instance does not wait for the question any more. */
  withdraw(questionId: string): void
}

const statePurpose = 'legacy-state'
const maxWithdrawnQuestions = 100_000

/** Undefined if the option `questionState` is absent. */
export function createStateRounds(settings: LegacySettings): StateRounds | undefined {
  const { questionState, warn } = settings
  if (questionState === undefined) return undefined
  const { codec, isChosen } = questionState
  const ttlMs = settings.answerTimeoutMs + settings.resumeWindowMs
  let missingEchoCount = 0
  const withdrawnQuestions = createBoundedMap<true>(maxWithdrawnQuestions)

  /**
   * Seals a round for one of its questions. Undefined if `questionState` returns false for the question, or if the
   * state is too large.
   */
  async function sealRound(round: WaitingRound, { id, method }: RoundQuestion): Promise<string | undefined> {
    if (!isChosen({ method, tool: toolNameIn(round.request) })) return undefined
    try {
      return await codec.seal(encodeRound(round, { withParams: false }), {
        purpose: statePurpose,
        binding: bindingOf(round.owner, id),
        ttlMs,
      })
    } catch (error) {
      if (!isStateError(error) && !isStateUsageError(error)) throw error
      warn({ code: 'limit', message: `The state of a question was left out: ${error.message}` })
      return undefined
    }
  }

  return {
    get missingEchoCount() {
      return missingEchoCount
    },
    countMissingEcho() {
      missingEchoCount += 1
    },
    withdraw: (questionId) => withdrawnQuestions.set(questionId, true),
    async keep(round, { capabilities }) {
      const states = new Map<string, string>()
      // STA-008: a client gets a `state` only if it has declared that it returns the `state`. Over a pair of streams no
      // `state` is sent, because the streams end with the process.
      const returnsStates = capabilities.experimental?.['requestState'] !== undefined
      if (!returnsStates || round.streamId === '') return { states, isShared: false }
      for (const question of round.questions) {
        const state = await sealRound(round, question)
        if (state !== undefined) states.set(question.id, state)
      }
      return { states, isShared: false }
    },
    /** Opens an answer's state, which works once (STA-005, STA-006). */
    async findByAnswer({ id, state }, owner) {
      const questionId = String(id)
      if (typeof state !== 'string' || withdrawnQuestions.get(questionId) === true) return undefined
      try {
        const binding = bindingOf(owner, questionId)
        return decodeRound(await codec.open(state, { purpose: statePurpose, binding }))
      } catch (error) {
        // If the codec's store is unreachable, the state may still be valid.
        if (!isStateError(error) || error.code === 'unavailable') throw error
        warn({ code: 'state_rejected', message: `The state of an answer was not accepted: ${error.detail}` })
        return undefined
      }
    },
    // The store does not know a round before an answer with its state arrives.
    findByStream: async () => undefined,
    listAnswers: async () => [],
    // A state can be opened once, so no other instance can have the round.
    claim: async () => true,
    release: () => {},
  }
}

function toolNameIn({ method, params }: RpcRequest): string | undefined {
  const name = method === 'tools/call' ? params?.['name'] : undefined
  return typeof name === 'string' ? name : undefined
}

// Binds a state to its owner, which is bound to a principal, and to its question, which is bound to a call.
function bindingOf(owner: string, questionId: string): JsonValue {
  return [owner, questionId]
}
