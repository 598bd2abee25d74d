import type { Deps } from '../session/deps.ts'
import { createOpenQuestions, type OpenQuestions } from './open-questions.ts'
import { createMemoryRounds, type RoundStore } from './round-store.ts'
import { createStateRounds, type StateRounds } from './state-rounds.ts'

/** {@link Deps} with what keeps calls that wait for answers. */
export interface CallDeps extends Deps {
  /** The questions that wait at this instance. */
  readonly questions: OpenQuestions
  /** Keeps the rounds that wait: where instances are linked, the link puts its own store in this place. */
  rounds: RoundStore
  /** The rounds that travel in the `state` of questions, undefined where that is off. */
  readonly stateRounds: StateRounds | undefined
}

/** Starts with no call that waits. */
export function createCallDeps(deps: Deps): CallDeps {
  const stateRounds = createStateRounds(deps.settings)
  return {
    ...deps,
    questions: createOpenQuestions(deps.ledger),
    rounds: stateRounds ?? createMemoryRounds(),
    stateRounds,
  }
}
