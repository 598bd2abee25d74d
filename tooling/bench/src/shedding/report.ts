import { median } from '../median.ts'

/** The result of one trial. */
export interface SheddingMeasurement {
  readonly completed: number
  readonly lost: number
  readonly moved: number
  readonly chunks: number
  readonly repeated: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The two trials of one round, with the same calls. */
export interface SheddingRound {
  readonly without: SheddingMeasurement
  readonly with: SheddingMeasurement
}

/** Formats a line without shedding, a line with it, and a line with the ratios, which are formed within a round. */
export function reportLines(rounds: readonly SheddingRound[]): readonly string[] {
  if (rounds.length === 0) throw new Error('there are no measurements: pass at least one round')
  const ratio = (name: 'p50Ms' | 'p99Ms'): string =>
    `${median(rounds.map((round) => round.without[name] / round.with[name])).toFixed(1)} x`
  return [
    line(
      'without shedding',
      rounds.map(({ without }) => without),
    ),
    line(
      'with shedding',
      rounds.map((round) => round.with),
    ),
    `without / with: p50 ${ratio('p50Ms')}, p99 ${ratio('p99Ms')}`,
  ]
}

function line(name: string, trials: readonly SheddingMeasurement[]): string {
  const sum = (field: keyof SheddingMeasurement): number => trials.reduce((total, trial) => total + trial[field], 0)
  const seconds = (field: 'p50Ms' | 'p99Ms'): string =>
    `${(median(trials.map((trial) => trial[field])) / 1000).toFixed(2)} s`
  return [
    name.padEnd(16),
    `p50 ${seconds('p50Ms')}`,
    `p99 ${seconds('p99Ms')}`,
    `${sum('completed')} calls completed`,
    `${sum('lost')} lost`,
    `${sum('moved')} moves`,
    `${sum('repeated')} of ${sum('chunks')} chunks of work done twice`,
  ].join('  ')
}
