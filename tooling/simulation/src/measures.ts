import type { Instance } from './instance.ts'

/** The results of one simulation. Times are in milliseconds. */
export interface SimulationResult {
  readonly completed: number
  /** The number of calls that had not ended at the end of the simulation. */
  readonly unfinished: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Hand-offs per completed call. */
  readonly movesPerCall: number
  /** The share of hand-offs to an instance that was not less busy. */
  readonly uselessShare: number
  /** The number of calls whose client gave up. */
  readonly givenUp: number
  /** The mean time for which a call was at no instance. */
  readonly idleMs: number
  /** The mean change of the number of running calls of an instance within 200 ms. */
  readonly fluctuation: number
  /** The load of the instances, sampled every 200 ms after the warm-up: running calls, multiplied by slowness. */
  readonly loads: readonly (readonly number[])[]
}

/** The counters of a running simulation. */
export interface Measures {
  completed: number
  moves: number
  useless: number
  givenUp: number
  idleMs: number
  readonly durations: number[]
  readonly loads: number[][]
  changes: number
}

/** Creates counters at zero. */
export function createMeasures(): Measures {
  return { completed: 0, moves: 0, useless: 0, givenUp: 0, idleMs: 0, durations: [], loads: [], changes: 0 }
}

/** Samples the load of each instance. */
export function sample(measures: Measures, instances: readonly Instance[]): void {
  const loads = instances.map(({ running, slowness }) => running * slowness)
  const before = measures.loads.at(-1) ?? loads
  measures.changes += meanOf(loads.map((load, index) => Math.abs(load - (before[index] ?? load))))
  measures.loads.push(loads)
}

/** Computes the results. */
export function resultOf(measures: Measures, unfinished: number): SimulationResult {
  const { completed, moves, useless, givenUp, idleMs, loads } = measures
  const { durations } = measures
  const quantile = (share: number): number => quantileOf(durations, share)
  const each = Math.max(1, completed)
  return {
    completed,
    unfinished,
    meanMs: meanOf(measures.durations),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    movesPerCall: moves / each,
    uselessShare: useless / Math.max(1, moves),
    givenUp,
    idleMs: idleMs / Math.max(1, durations.length),
    fluctuation: measures.changes / Math.max(1, loads.length),
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
