import type { Instance } from './instance.ts'

/** The results of one simulation. Times are in milliseconds. */
export interface SimulationResult {
  readonly completed: number
  /** The number of calls that had not ended at the end of the simulation. */
  readonly unfinished: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** Hand-offs per completed call, for load and for a stop. */
  readonly movesPerCall: number
  readonly stopMovesPerCall: number
  /**
   * The share of hand-offs for load to an instance that was not less busy, and the share of hand-offs that returned to
   * the same instance.
   */
  readonly uselessShare: number
  readonly returnedShare: number
  /** The number of calls whose instance ended, and the time of the work that was repeated for them. */
  readonly lost: number
  readonly redoneMs: number
  /** The number of calls whose client gave up. */
  readonly givenUp: number
  /** The mean time for which a call was at no instance. */
  readonly idleMs: number
  /** The mean change of the number of running calls of an instance within 200 ms. */
  readonly fluctuation: number
  /** The difference of load between instances: the mean standard deviation of running calls. */
  readonly imbalance: number
  /** Hand-offs for load, by the instance that hands the call off. */
  readonly movesBy: readonly number[]
  /** The load of the instances, sampled every 200 ms after the warm-up: running calls, multiplied by slowness. */
  readonly loads: readonly (readonly number[])[]
}

/** The counters of a running simulation. */
export interface Measures {
  completed: number
  moves: number
  stopMoves: number
  useless: number
  returned: number
  lost: number
  redoneMs: number
  givenUp: number
  idleMs: number
  readonly durations: number[]
  readonly movesBy: number[]
  readonly loads: number[][]
  changes: number
  spread: number
}

/** Creates counters at zero. */
export function createMeasures(instances: number): Measures {
  const zero = {
    completed: 0,
    moves: 0,
    stopMoves: 0,
    useless: 0,
    returned: 0,
    lost: 0,
    redoneMs: 0,
    givenUp: 0,
  }
  const movesBy = Array.from({ length: instances }, () => 0)
  return { ...zero, idleMs: 0, durations: [], movesBy, loads: [], changes: 0, spread: 0 }
}

/** Samples the load of each instance. */
export function sample(measures: Measures, instances: readonly Instance[]): void {
  const loads = instances.map(({ running, slowness, isUp }) => (isUp ? running * slowness : 0))
  const before = measures.loads.at(-1) ?? loads
  const mean = meanOf(loads)
  measures.changes += meanOf(loads.map((load, index) => Math.abs(load - (before[index] ?? load))))
  measures.spread += Math.sqrt(meanOf(loads.map((load) => (load - mean) ** 2)))
  measures.loads.push(loads)
}

/** Computes the results. */
export function resultOf(measures: Measures, unfinished: number): SimulationResult {
  const { completed, moves, stopMoves, useless, returned, lost, redoneMs, givenUp, idleMs, movesBy, loads } = measures
  const { durations } = measures
  const quantile = (share: number): number => quantileOf(durations, share)
  const each = Math.max(1, completed)
  return {
    completed,
    unfinished,
    meanMs: meanOf(measures.durations),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    p999Ms: quantile(0.999),
    movesPerCall: moves / each,
    stopMovesPerCall: stopMoves / each,
    uselessShare: useless / Math.max(1, moves),
    returnedShare: returned / Math.max(1, moves + stopMoves),
    lost,
    redoneMs,
    givenUp,
    idleMs: idleMs / Math.max(1, durations.length),
    fluctuation: measures.changes / Math.max(1, loads.length),
    imbalance: measures.spread / Math.max(1, loads.length),
    movesBy,
    loads,
  }
}

/** Returns the means of the results of several seeds. */
export function meanResult(results: readonly SimulationResult[]): SimulationResult {
  const [first] = results
  if (first === undefined) throw new RangeError('at least one result is required')
  const means = Object.entries(first)
    .filter(([, value]) => typeof value === 'number')
    .map(([name]) => [name, meanOf(results.map((result) => Number(Reflect.get(result, name))))])
  return { ...first, ...Object.fromEntries(means) }
}

/** Returns the arithmetic mean, or 0 without values. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Returns the quantile of a share, or 0 without values. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0
}

/** Returns the geometric mean of ratios. */
export function geometricMean(ratios: readonly number[]): number {
  return Math.exp(meanOf(ratios.map(Math.log)))
}
