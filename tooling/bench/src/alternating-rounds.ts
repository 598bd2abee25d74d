import { median } from './median.ts'

/** The measurement of each target in one round, by name. */
export type Round<Measurement> = ReadonlyMap<string, Measurement>

/**
 * Measures targets one after the other in each round, so that other work of the machine affects all of them. Every
 * other round has the reverse order.
 */
export async function measureRounds<Target extends { readonly name: string }, Measurement>(
  targets: readonly Target[],
  rounds: number,
  measure: (target: Target) => Promise<Measurement>,
): Promise<readonly Round<Measurement>[]> {
  const all: Round<Measurement>[] = []
  for (let round = 0; round < rounds; round++) {
    const measured = new Map<string, Measurement>()
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      measured.set(target.name, await measure(target))
    }
    all.push(measured)
  }
  return all
}

/** A comparison of one target with a base. */
export interface Share<Measurement> {
  readonly name: string
  readonly base: string
  readonly of: (measurement: Measurement) => number
}

/**
 * Returns the ratio of each round.
 *
 * @throws Error when a round lacks one of the two targets.
 */
export function sharesOf<Measurement>(
  rounds: readonly Round<Measurement>[],
  { name, base, of }: Share<Measurement>,
): readonly number[] {
  return rounds.map((round) => of(find(round, name)) / of(find(round, base)))
}

/** Returns the median of the ratios of all rounds. */
export function shareOf<Measurement>(rounds: readonly Round<Measurement>[], share: Share<Measurement>): number {
  return median(sharesOf(rounds, share))
}

/** Returns the median of the measurements of one target over the rounds. */
export function medianOf<Measurement>(
  rounds: readonly Round<Measurement>[],
  name: string,
  of: (measurement: Measurement) => number,
): number {
  return median(rounds.map((round) => of(find(round, name))))
}

/** Formats the smallest and the largest share of any round, in brackets and in percent. */
export function spreadText(shares: readonly number[]): string {
  return `(${(Math.min(...shares) * 100).toFixed(1)} to ${(Math.max(...shares) * 100).toFixed(1)} %)`
}

function find<Measurement>(round: Round<Measurement>, name: string): Measurement {
  const found = round.get(name)
  if (found === undefined) throw new Error(`a round has no measurement of ${name}: every round measures every target`)
  return found
}
