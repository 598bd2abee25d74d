import type { Deps } from '../session/deps.ts'
import { createOpenQuestions, type OpenQuestions } from './open-questions.ts'
import { createMemoryRounds, type RoundStore } from './round-store.ts'
import { createStateRounds, type StateRounds } from './state-rounds.ts'

/** {@link Deps}, and the stores of calls that wait for answers. */
export interface CallDeps extends Deps {
  /** The open questions of this instance. */
  readonly questions: OpenQuestions
  /** The store of waiting rounds. If several instances share a store, it is replaced by the shared one. */
  rounds: RoundStore
  /** The rounds that are sealed in the `state` of their questions. Undefined without the option `questionState`. */
  readonly stateRounds: StateRounds | undefined
}

/** Creates {@link CallDeps} without a waiting call. */
export function createCallDeps(deps: Deps): CallDeps {
  const stateRounds = createStateRounds(deps.settings)
  return {
    ...deps,
    questions: createOpenQuestions(deps.ledger),
    rounds: stateRounds ?? createMemoryRounds(),
    stateRounds,
  }
}
