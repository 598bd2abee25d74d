import { median } from '../median.ts'

/** What one target did in one round. */
export interface Measurement {
  readonly name: string
  readonly perSecond: number
  /** Microseconds of CPU in the server's process. */
  readonly cpuPerRequest: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
}

/**
 * A line per target: medians over the rounds, and beside them what it did compared with the floor in the same round, in calls
 * and in CPU a call. In brackets the smallest and the largest share of any round.
 */
export function reportLines(connections: number, rounds: readonly (readonly Measurement[])[]): readonly string[] {
  const names = [...new Set(rounds.flat().map(({ name }) => name))]
  return names.map((name) => {
    const own = rounds.map((round) => find(round, name))
    const shares = rounds.map((round) => find(round, name).perSecond / find(round, 'floor').perSecond)
    const costs = rounds.map((round) => find(round, name).cpuPerRequest / find(round, 'floor').cpuPerRequest)
    const tails = rounds.map((round) => find(round, name).p99Milliseconds / find(round, 'floor').p99Milliseconds)
    const columns = [
      `${connections} connections`.padStart(14),
      name.padEnd(8),
      `${median(own.map(({ perSecond }) => perSecond)).toFixed(0)} calls/s`.padStart(14),
      `${median(own.map(({ cpuPerRequest }) => cpuPerRequest)).toFixed(1)} us CPU/call`.padStart(18),
      `${(median(shares) * 100).toFixed(1)} % of the floor`.padStart(22),
      `${median(costs).toFixed(2)} x its CPU`.padStart(14),
      tailOf(median(tails)).padStart(14),
      `(${(Math.min(...shares) * 100).toFixed(1)} to ${(Math.max(...shares) * 100).toFixed(1)} %)`,
    ]
    return columns.join('  ')
  })
}

function find(round: readonly Measurement[], name: string): Measurement {
  const found = round.find((measurement) => measurement.name === name)
  if (found === undefined) throw new Error(`a round has no measurement of ${name}: every round measures every target`)
  return found
}

// The load counts in whole milliseconds, so that a call of less has no share.
function tailOf(share: number): string {
  return Number.isFinite(share) ? `${share.toFixed(2)} x its p99` : 'p99 under 1 ms'
}
