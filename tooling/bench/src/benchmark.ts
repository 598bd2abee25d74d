import type { RatioId, Reading } from './wanted.ts'

/** The number and the length of the rounds of a benchmark. */
export interface Timing {
  /**
   * The time that seconds are of: the clock's, or the CPU of the measured process. On a busy machine a process does the
   * same work in a second of CPU, and is warm after the same seconds. Default: the clock's.
   */
  readonly unit?: 'clock' | 'cpu'
  readonly rounds: number
  /** Seconds for each target in one round. */
  readonly seconds: number
  /** Seconds for each target before the first round. Its code is compiled by then, also on a busy machine. */
  readonly warmUp: number
}

/** The options of a run of a benchmark. */
export interface MeasureOptions {
  readonly timing: Timing
  /** The ratios to measure. Default: all of them, and the peers. */
  readonly only?: readonly RatioId[] | undefined
  /** Receives each line of the report. */
  readonly print: (line: string) => void
}

/** A benchmark that returns ratios. */
export interface RatioBenchmark {
  readonly ids: readonly RatioId[]
  readonly measure: (options: MeasureOptions) => Promise<readonly Reading[]>
}

/** Returns the options for a benchmark that the command line names. */
export function optionsOf({ quick }: { readonly quick: boolean }): MeasureOptions {
  return { timing: quick ? { rounds: 3, seconds: 1, warmUp: 5 } : { rounds: 7, seconds: 3, warmUp: 5 }, print }
}

/** Writes a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
