/** The measurement of each target in one round, by name. */
export type Round<Measurement> = ReadonlyMap<string, Measurement>

/**
 * Returns the median of numbers.
 *
 * @throws RangeError for an empty list.
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  if (lower === undefined || upper === undefined) throw new RangeError('an empty list has no median')
  return (lower + upper) / 2
}

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
    for (const target of round % 2 === 0 ? targets : targets.toReversed())
      measured.set(target.name, await measure(target))
    all.push(measured)
  }
  return all
}

/**
 * Returns the ratio of each round.
 *
 * @throws Error when a round lacks one of the two targets.
 */
export function sharesOf<Measurement>(
  rounds: readonly Round<Measurement>[],
  { name, base, of }: { readonly name: string; readonly base: string; readonly of: (one: Measurement) => number },
): readonly number[] {
  return rounds.map((round) => of(find(round, name)) / of(find(round, base)))
}

/** Returns the median of the measurements of one target over the rounds. */
export function medianOf<Measurement>(
  rounds: readonly Round<Measurement>[],
  name: string,
  of: (measurement: Measurement) => number,
): number {
  return median(rounds.map((round) => of(find(round, name))))
}

/** Formats the median of ratios with the smallest and the largest. */
export function rangeText(shares: readonly number[]): string {
  return `${median(shares).toFixed(2)} (${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)})`
}

/** A quantity of a report. */
export interface Column<Measurement> {
  readonly unit: string
  readonly of: (measurement: Measurement) => number
  readonly digits?: number
}

/** Formats a line per target: the median of each quantity, and its ratios to the base within a round. */
export function reportLines<Measurement>(
  rounds: readonly Round<Measurement>[],
  base: string,
  columns: readonly Column<Measurement>[],
): readonly string[] {
  const names = [...new Set(rounds.flatMap((round) => [...round.keys()]))]
  return names.map((name) => {
    const cells = columns.map(({ unit, of, digits = 1 }) => {
      const value = medianOf(rounds, name, of).toLocaleString('en', { maximumFractionDigits: digits })
      return `${value.padStart(10)} ${unit} ${rangeText(sharesOf(rounds, { name, base, of })).padEnd(21)}`
    })
    return `  ${name.padEnd(32)}${cells.join('')}`.trimEnd()
  })
}

function find<Measurement>(round: Round<Measurement>, name: string): Measurement {
  const found = round.get(name)
  if (found === undefined) throw new Error(`a round has no measurement of ${name}: every round measures every target`)
  return found
}
