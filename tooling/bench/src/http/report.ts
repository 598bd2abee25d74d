import { median } from '../median.ts'

/** What one target did in one round. */
export interface Measurement {
  readonly name: string
  readonly perSecond: number
  /** Microseconds of CPU in the server's process. */
  readonly cpuPerRequest: number
  readonly medianMilliseconds: number
}

/** A line per target: medians over the rounds, and its share of what the floor did in the same round. */
export function reportLines(connections: number, rounds: readonly (readonly Measurement[])[]): readonly string[] {
  const names = [...new Set(rounds.flat().map(({ name }) => name))]
  return names.map((name) => {
    const own = rounds.map((round) => find(round, name))
    const shares = rounds.map((round) => find(round, name).perSecond / find(round, 'floor').perSecond)
    const columns = [
      `${connections} connections`.padStart(14),
      name.padEnd(8),
      `${median(own.map(({ perSecond }) => perSecond)).toFixed(0)} calls/s`.padStart(14),
      `${median(own.map(({ cpuPerRequest }) => cpuPerRequest)).toFixed(1)} us CPU/call`.padStart(18),
      `${(median(shares) * 100).toFixed(1)} % of the floor`.padStart(22),
      `(${(Math.min(...shares) * 100).toFixed(1)} to ${(Math.max(...shares) * 100).toFixed(1)})`,
    ]
    return columns.join('  ')
  })
}

function find(round: readonly Measurement[], name: string): Measurement {
  const found = round.find((measurement) => measurement.name === name)
  if (found === undefined) throw new Error(`a round has no measurement of ${name}: every round measures every target`)
  return found
}
