import { geometricMean, meanOf, meanResult, type SimulationResult } from './measures.ts'
import { type Balancer, type Mode, optionsOf, type ScenarioName, type SimulationOptions } from './options.ts'
import { simulate } from './simulate.ts'

/** The results of one scenario without shedding, with it, and with an oracle. */
export interface Comparison {
  readonly scenario: ScenarioName
  readonly instances: number
  readonly balancer: Balancer
  readonly results: Readonly<Record<Mode, SimulationResult>>
}

/**
 * The limits of the policy with 10 instances, round robin and four seeds: p99 as a multiple of an oracle's over all
 * scenarios, hand-offs per completed call, and hand-offs under an overload of 130 %.
 */
export const targets = { p99: 1.65, moves: 0.1, overloadMoves: 0.25 } as const

/** Runs a scenario in the three modes, with `seeds` seeds from `overrides.seed` on. */
export function compareModes(scenario: ScenarioName, overrides: Partial<SimulationOptions>, seeds: number): Comparison {
  const { seed: firstSeed = 1 } = overrides
  const run = (mode: Mode): SimulationResult =>
    meanResult(
      Array.from({ length: seeds }, (_, index) => {
        return simulate(optionsOf({ ...overrides, mode, seed: firstSeed + index }, scenario))
      }),
    )
  const { instances, balancer } = optionsOf(overrides, scenario)
  return {
    scenario,
    instances,
    balancer,
    results: { none: run('none'), shedding: run('shedding'), oracle: run('oracle') },
  }
}

/**
 * Summarizes several scenarios for a mode: latency as a multiple of the oracle's (geometric means), and hand-offs per
 * completed call.
 */
export function scoreOf(
  comparisons: readonly Comparison[],
  mode: Mode,
): Readonly<Record<'mean' | 'p99' | 'moves', number>> {
  const ratio = (of: (result: SimulationResult) => number): number =>
    geometricMean(comparisons.map(({ results }) => of(results[mode]) / of(results.oracle)))
  return {
    mean: ratio(({ meanMs }) => meanMs),
    p99: ratio(({ p99Ms }) => p99Ms),
    moves: meanOf(comparisons.map(({ results }) => results[mode].movesPerCall)),
  }
}
