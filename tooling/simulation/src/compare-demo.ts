import { planCalls, runPacedTrial, shedding } from '@apps/load-shedding/paced-trial'
import { meanOf, meanResult, quantileOf } from './measures.ts'
import { optionsOf } from './options.ts'
import { simulate } from './simulate.ts'

/** The figures of one run of the demo's calls. Times are in milliseconds. */
export interface DemoFigures {
  readonly completed: number
  readonly movesPerCall: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The figures of the same calls in the demo and in the simulation. */
export interface DemoComparison {
  readonly calls: number
  /** The time of a chunk on an event loop of the demo. A chunk of the simulation takes as long. */
  readonly chunkMs: number
  readonly demo: DemoFigures
  readonly simulation: DemoFigures
}

/** The load of a comparison. */
export interface DemoLoad {
  readonly seed: number
  /** The load of the calls, as a share of the capacity of three instances. */
  readonly share: number
  readonly withinMs: number
  readonly sheds: boolean
}

const instances = 3
/** The time in milliseconds for which a chunk blocks an event loop, and the mean number of chunks of a call. */
const chunkMs = 5
const chunksPerCall = 45

const simulatedSeeds = [1, 2, 3, 4, 5]

/**
 * Runs planned calls at three processes of the demo behind Node's cluster module. Then it simulates the same calls at
 * the same times, with chunks of the measured time.
 */
export async function compareWithDemo({ seed, share, withinMs, sheds }: DemoLoad): Promise<DemoComparison> {
  const perSecond = (share * instances * 1000) / (chunkMs * chunksPerCall)
  const calls = planCalls(seed, perSecond, withinMs)
  const trial = await runPacedTrial({ balancer: 'cluster', size: instances, sheds, calls, chunkMs })
  const options = {
    instances,
    balancer: 'cluster',
    mode: sheds ? 'shedding' : 'none',
    calls,
    shedding,
    warmMs: 0,
    loadMs: withinMs,
    chunkMs: trial.chunkMs,
    chunkSigma: 0,
    waitingCalls: 0,
  } as const
  // The random pauses of clients affect which instance a call reaches.
  const simulated = meanResult(simulatedSeeds.map((each) => simulate(optionsOf({ ...options, seed: each }))))
  const { completed, movesPerCall, meanMs, p50Ms, p99Ms } = simulated
  return {
    calls: calls.length,
    chunkMs: trial.chunkMs,
    demo: {
      completed: trial.completed,
      movesPerCall: trial.moves / Math.max(1, trial.completed),
      meanMs: meanOf(trial.latenciesMs),
      p50Ms: quantileOf(trial.latenciesMs, 0.5),
      p99Ms: quantileOf(trial.latenciesMs, 0.99),
    },
    simulation: { completed, movesPerCall, meanMs, p50Ms, p99Ms },
  }
}
