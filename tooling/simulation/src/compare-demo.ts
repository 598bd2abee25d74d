import { planCalls, runPacedTrial, shedding } from '@apps/load-shedding/paced-trial'
import { meanOf, meanResult, quantileOf } from './measures.ts'
import { optionsOf } from './options.ts'
import { simulate } from './simulate.ts'

/** Figures of one run of the demo's calls. Times are milliseconds. */
export interface DemoFigures {
  readonly completed: number
  readonly movesPerCall: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The same calls, at the processes of the demo and in the simulation. */
export interface DemoComparison {
  readonly calls: number
  /** The time for which an event loop of the demo was busy, by chunk; a chunk of the simulation takes as long. */
  readonly chunkMs: number
  readonly demo: DemoFigures
  readonly simulation: DemoFigures
}

/** The load of a comparison. */
export interface DemoLoad {
  readonly seed: number
  /** Of the capacity of three instances, what the calls need. */
  readonly share: number
  readonly withinMs: number
  readonly sheds: boolean
}

const instances = 3
/** For how many milliseconds a chunk is to hold an event loop, and the mean number of chunks of a call. */
const chunkMs = 5
const chunksPerCall = 45

const simulatedSeeds = [1, 2, 3, 4, 5]

/**
 * Runs calls of the demo's plan at three of its processes, behind Node's cluster, and then in the simulation: the same
 * calls at the same times, with chunks that take as long as they took.
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
  // The pauses of clients are random, and decide where a call comes to.
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
