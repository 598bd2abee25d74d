import { medianOf, type Round, shareOf, sharesOf, spreadText } from '../alternating-rounds.ts'
import type { RatioId, Reading } from '../wanted.ts'

/** The measurement of one server in one round. */
export interface Measurement {
  readonly perSecond: number
  /** Microseconds of CPU in the server's process. */
  readonly cpuPerRequest: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
}

/** A ratio of a comparison. Defaults: `ours` to `floor`, in requests per second. */
export interface RatioRow {
  readonly id: RatioId
  readonly connections: number
  readonly name?: string
  readonly base?: string
  readonly of?: keyof typeof quantities
}

interface Quantity {
  readonly of: (measurement: Measurement) => number
  readonly format: (value: number) => string
}

/** The quantities of a ratio. */
const quantities = {
  perSecond: {
    of: ({ perSecond }) => perSecond,
    format: (value) => `${Math.round(value).toLocaleString('en')}/s`,
  },
  cpuPerRequest: {
    of: ({ cpuPerRequest }) => cpuPerRequest,
    format: (value) => `${value.toFixed(0)} us`,
  },
  /**
   * With a fixed number of requests in flight, all times grow as the rate falls. The tail is p99 without that effect.
   */
  tail: {
    of: ({ p99Milliseconds, medianMilliseconds }) => p99Milliseconds / medianMilliseconds,
    format: (value) => `${value.toFixed(2)} x the median`,
  },
} as const satisfies Readonly<Record<string, Quantity>>

/**
 * Formats a line per server: medians over the rounds, and ratios to the floor in the same round. The brackets have the
 * smallest and the largest share of any round.
 */
export function reportLines(
  rounds: readonly Round<Measurement>[],
  { connections, unit }: { readonly connections: number; readonly unit: string },
): readonly string[] {
  const names = [...new Set(rounds.flatMap((round) => [...round.keys()]))]
  return names.map((name) => {
    const ratio = (of: keyof Measurement) => shareOf(rounds, { name, base: 'floor', of: (one) => one[of] })
    const shares = sharesOf(rounds, { name, base: 'floor', of: ({ perSecond }) => perSecond })
    const columns = [
      `${connections} connections`.padStart(15),
      name.padEnd(9),
      `${medianOf(rounds, name, ({ perSecond }) => perSecond).toFixed(0)} ${unit}s/s`.padStart(14),
      `${medianOf(rounds, name, ({ cpuPerRequest }) => cpuPerRequest).toFixed(1)} us CPU/${unit}`.padStart(18),
      `${(ratio('perSecond') * 100).toFixed(1)} % of the floor`.padStart(22),
      `${ratio('cpuPerRequest').toFixed(2)} x its CPU`.padStart(15),
      `${ratio('p99Milliseconds').toFixed(2)} x its p99`.padStart(15),
      spreadText(shares),
    ]
    return columns.join('  ')
  })
}

/** Returns the reading of a row from the rounds with its number of connections. */
export function readingOf(rounds: readonly Round<Measurement>[], row: RatioRow): Reading {
  const { id, name = 'ours', base = 'floor', of: quantity = 'perSecond' } = row
  const { of, format } = quantities[quantity]
  const cpu = ({ cpuPerRequest }: Measurement): number => cpuPerRequest
  const withPeer = rounds.every((round) => round.has('official')) && name === 'ours'
  return {
    id,
    value: shareOf(rounds, { name, base, of }),
    ours: format(medianOf(rounds, name, of)),
    floor: format(medianOf(rounds, base, of)),
    cpu: shareOf(rounds, { name, base, of: cpu }),
    peer: withPeer ? shareOf(rounds, { name: 'official', base, of }) : undefined,
  }
}
