import type { Deps } from '../session/deps.ts'
import { OpenQuestions } from './open-questions.ts'
import { createMemoryRounds, joinRoundStores, type RoundStore } from './round-store.ts'
import { StateRounds } from './state-rounds.ts'

/** {@link Deps}, and the stores of calls that wait for answers. */
export interface CallDeps extends Deps {
  /** Open questions of this instance. */
  readonly questions: OpenQuestions
  readonly rounds: RoundStore
  /** Moves to a store that several instances share. */
  shareRounds(sharedRounds: RoundStore): void
  /** Rounds that are sealed in the `state` of their questions. Undefined without the option `questionState`. */
  readonly stateRounds: StateRounds | undefined
}

export function createCallDeps(deps: Deps): CallDeps {
  const { questionState } = deps.settings
  const stateRounds = questionState && new StateRounds(questionState, deps.settings)
  let rounds: RoundStore = stateRounds ?? createMemoryRounds()
  return {
    ...deps,
    questions: new OpenQuestions(deps.ledger),
    get rounds() {
      return rounds
    },
    shareRounds(sharedRounds) {
      rounds = stateRounds === undefined ? sharedRounds : joinRoundStores(sharedRounds, stateRounds)
    },
    stateRounds,
  }
}
