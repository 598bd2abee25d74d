import type { Instance } from './instance.ts'

/** Results of one simulation. Times are milliseconds. */
export interface SimulationResult {
  readonly completed: number
  /** Calls that had not ended when the simulation did. */
  readonly left: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** Hand-offs for load, and for a stop, by completed call. */
  readonly movesPerCall: number
  readonly stopMovesPerCall: number
  /** Of the hand-offs for load, those that came to an instance that was no less busy, and those that came back. */
  readonly uselessShare: number
  readonly returnedShare: number
  /** Calls whose instance ended, and the work that was done again for them. */
  readonly lost: number
  readonly redoneMs: number
  /** Calls whose client gave up. */
  readonly givenUp: number
  /** Hand-offs of the call that had the most. */
  readonly mostHandOffs: number
  /** For how long a call stood nowhere, on the average. */
  readonly idleMs: number
  /** Change of the number of running calls within 200 ms, on the average of instances. */
  readonly wobble: number
  /** By how much the instances differ in load: the mean standard deviation of running calls. */
  readonly imbalance: number
  /** Hand-offs for load by the instance that they began at. */
  readonly movesBy: readonly number[]
  /** The load of instances, sampled each 200 ms after the warm-up: running calls, times slowness. */
  readonly loads: readonly (readonly number[])[]
}

/** Counts what happens while a simulation runs. */
export interface Measures {
  completed: number
  moves: number
  stopMoves: number
  useless: number
  returned: number
  lost: number
  redoneMs: number
  givenUp: number
  mostHandOffs: number
  idleMs: number
  readonly took: number[]
  readonly movesBy: number[]
  readonly loads: number[][]
  changes: number
  spread: number
}

/** Begins to count. */
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
    mostHandOffs: 0,
  }
  const movesBy = Array.from({ length: instances }, () => 0)
  return { ...zero, idleMs: 0, took: [], movesBy, loads: [], changes: 0, spread: 0 }
}

/** Takes a sample of the load of each instance. */
export function sample(measures: Measures, instances: readonly Instance[]): void {
  const loads = instances.map(({ running, slowness, isUp }) => (isUp ? running * slowness : 0))
  const before = measures.loads.at(-1) ?? loads
  const mean = meanOf(loads)
  measures.changes += meanOf(loads.map((load, index) => Math.abs(load - (before[index] ?? load))))
  measures.spread += Math.sqrt(meanOf(loads.map((load) => (load - mean) ** 2)))
  measures.loads.push(loads)
}

/** Works out the result. */
export function resultOf(measures: Measures, left: number): SimulationResult {
  const { completed, moves, stopMoves, useless, returned, lost, redoneMs, givenUp, idleMs, movesBy, loads } = measures
  const { took } = measures
  const quantile = (share: number): number => quantileOf(took, share)
  const each = Math.max(1, completed)
  return {
    completed,
    left,
    meanMs: meanOf(measures.took),
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
    mostHandOffs: measures.mostHandOffs,
    idleMs: idleMs / Math.max(1, took.length),
    wobble: measures.changes / Math.max(1, loads.length),
    imbalance: measures.spread / Math.max(1, loads.length),
    movesBy,
    loads,
  }
}

/** The mean of results of several seeds, number by number. */
export function meanResult(results: readonly SimulationResult[]): SimulationResult {
  const [first] = results
  if (first === undefined) throw new RangeError('no result is given')
  const means = Object.entries(first)
    .filter(([, value]) => typeof value === 'number')
    .map(([name]) => [name, meanOf(results.map((result) => Number(Reflect.get(result, name))))])
  return { ...first, ...Object.fromEntries(means) }
}

/** The arithmetic mean; 0 of nothing. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The value below which a share of the values lies; 0 of nothing. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0
}

/** The geometric mean, for ratios. */
export function geometricMean(ratios: readonly number[]): number {
  return Math.exp(meanOf(ratios.map(Math.log)))
}
