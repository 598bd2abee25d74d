import type { RatioId, Reading } from './wanted.ts'

/** How long is measured. */
export interface Timing {
  readonly rounds: number
  /** Of one target in one round. */
  readonly seconds: number
  /**
   * Seconds for each target, before the first round: until its code is compiled, which on a busy machine takes several.
   */
  readonly warmUp: number
}

/** How a benchmark is run. */
export interface MeasureOptions {
  readonly timing: Timing
  /** The ratios that are wanted; all of them, and the peers beside them, unless it is given. */
  readonly only?: readonly RatioId[] | undefined
  /** Takes each line of the report. */
  readonly print: (line: string) => void
}

/** A benchmark that gives ratios. */
export interface RatioBenchmark {
  readonly ids: readonly RatioId[]
  readonly measure: (options: MeasureOptions) => Promise<readonly Reading[]>
}

/** The options of a benchmark that is run by its name. */
export function optionsOf({ quick }: { readonly quick: boolean }): MeasureOptions {
  return { timing: quick ? { rounds: 3, seconds: 1, warmUp: 5 } : { rounds: 7, seconds: 3, warmUp: 5 }, print }
}

/** Writes a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
