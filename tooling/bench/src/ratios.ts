import { type Column, measureRounds, medianOf, median, reportLines, type Round, sharesOf } from './alternating.ts'

const atLeast = (value: number) => ({ sign: '>=', value }) as const
const atMost = (value: number) => ({ sign: '<=', value }) as const

/** The wanted value of each ratio to a floor or another base. `docs/performance.md` describes them. */
export const wanted = {
  'http/1': atLeast(0.9),
  'http/16': atLeast(0.9),
  'http/64': atLeast(0.9),
  'http/256': atLeast(0.8),
  'http/by-hand': atMost(1.2),
  'http/tail': atMost(1.3),
  'http/500-tools': atLeast(0.95),
  'fetch/1': atLeast(0.8),
  'fetch/16': atLeast(0.8),
  'fetch/64': atLeast(0.8),
  'list/1': atLeast(0.85),
  'list/16': atLeast(0.85),
  'rounds/16': atLeast(0.66),
  'rounds/16-inline': atLeast(0.38),
  'rounds/by-hand': atMost(1.5),
  'rounds/inline-by-hand': atMost(2.2),
  'codec/200': atLeast(0.85),
  'codec/2000': atLeast(0.85),
  'codec/32768': atLeast(0.85),
  'stdio/64': atLeast(0.45),
  'stdio/p50': atMost(1.5),
  'stream/1': atLeast(0.6),
  'stream/16': atLeast(0.6),
  'telemetry/api': atMost(2),
  'telemetry/1': atMost(6),
  'telemetry/100': atMost(8),
  'hop/cpu': atMost(1.5),
  'hop/progress': atLeast(0.7),
  'gateway/cpu': atMost(1.6),
  'workload/2025-06-18': atMost(1.14),
  'workload/2026-07-28': atMost(1.2),
  'sessions/read': atMost(3),
} as const

/** The name of a ratio: the benchmark and its variant. */
export type RatioId = keyof typeof wanted

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

/** A measured ratio, with the formatted figures of our program and of its base. */
export interface Reading {
  readonly id: RatioId
  readonly value: number
  readonly ours: string
  readonly floor: string
  /** The ratio of their CPU in the same rounds. */
  readonly cpu: number
}

/** A benchmark that returns ratios. */
export interface RatioBenchmark {
  readonly ids: readonly RatioId[]
  readonly measure: (options: MeasureOptions) => Promise<readonly Reading[]>
}

/** A ratio of two targets. Defaults: `ours` to `floor`, of the first column. */
export interface RatioRow<Measurement> {
  readonly id: RatioId
  readonly name?: string
  readonly base?: string
  readonly column?: Column<Measurement>
}

/** A measurement, with the microseconds of CPU of one call. */
export interface CpuMeasurement {
  readonly cpu: number
}

/** The CPU of a call. */
export const cpuColumn: Column<CpuMeasurement> = { unit: 'us CPU', of: ({ cpu }) => cpu }

/** Returns the rows that a run measures. */
export function selectRows<Row extends { readonly id: RatioId }>(
  rows: readonly Row[],
  { only }: Pick<MeasureOptions, 'only'>,
): readonly Row[] {
  return only === undefined ? rows : rows.filter(({ id }) => only.includes(id))
}

/** Returns the targets that some rows compare, or all of them with their peers if the run has no selection. */
export function selectTargets<Target extends { readonly name: string }>(
  targets: readonly Target[],
  rows: readonly { readonly name?: string; readonly base?: string }[],
  { only }: Pick<MeasureOptions, 'only'>,
): readonly Target[] {
  const names = new Set(rows.flatMap(({ name = 'ours', base = 'floor' }) => [name, base]))
  return only === undefined ? targets : targets.filter(({ name }) => names.has(name))
}

/** What a benchmark compares, and how it measures one target for some seconds. */
export interface Comparison<Target, Measurement> {
  readonly title: string
  readonly targets: readonly Target[]
  /** The target that the report compares with. Default: the floor. */
  readonly base?: string
  readonly rows: readonly RatioRow<Measurement>[]
  readonly columns: readonly [Column<Measurement>, ...Column<Measurement>[]]
  readonly measure: (target: Target, seconds: number) => Promise<Measurement>
}

/** Measures targets in alternating rounds, prints a line for each of them, and returns the ratios of the rows. */
export async function compareTargets<Target extends { readonly name: string }, Measurement extends CpuMeasurement>(
  { title, targets, rows, columns, measure, base = 'floor' }: Comparison<Target, Measurement>,
  { timing, only, print }: MeasureOptions,
): Promise<readonly Reading[]> {
  const selected = selectRows(rows, { only })
  const compared = selectTargets(targets, selected, { only })
  const { rounds, seconds } = timing
  print(
    `${title}, Node ${process.version}: ${rounds} alternating rounds of ${seconds} s; medians; ratios within a round`,
  )
  const measured = await measureRounds(compared, rounds, (target) => measure(target, seconds))
  const shown = compared.some(({ name }) => name === base) ? base : (compared[0]?.name ?? base)
  for (const line of reportLines(measured, shown, columns)) print(line)
  const readings = selected.map((row) => readingOf(measured, { column: columns[0], ...row }))
  for (const reading of readings) print(readingLine(reading))
  return readings
}

/** Returns the ratio of a row within each round, and that of CPU. */
export function readingOf<Measurement extends CpuMeasurement>(
  rounds: readonly Round<Measurement>[],
  { id, name = 'ours', base = 'floor', column }: RatioRow<Measurement> & { readonly column: Column<Measurement> },
): Reading {
  const ratio = (of: (one: Measurement) => number): number => median(sharesOf(rounds, { name, base, of }))
  const text = (target: string): string =>
    `${medianOf(rounds, target, column.of).toLocaleString('en', { maximumFractionDigits: column.digits ?? 1 })} ${column.unit}`
  return { id, value: ratio(column.of), ours: text(name), floor: text(base), cpu: ratio(({ cpu }) => cpu) }
}

/** Formats a line with a ratio, its wanted value, and the result of their comparison. */
function readingLine({ id, value }: Reading): string {
  const { sign, value: goal } = wanted[id]
  const isReached = sign === '>=' ? value >= goal : value <= goal
  return `${id.padEnd(22)} ${value.toFixed(2)}  wanted ${sign} ${goal.toFixed(2)}  ${isReached ? 'reached' : 'NOT REACHED'}`
}

/** Writes a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Measures all ratios and peers of a benchmark that the command line names. */
export async function runBenchmarks(
  benchmarks: readonly RatioBenchmark[],
  { quick }: { readonly quick: boolean },
): Promise<void> {
  const timing = quick ? { rounds: 3, seconds: 1, warmUp: 5 } : { rounds: 7, seconds: 3, warmUp: 5 }
  for (const { measure } of benchmarks) await measure({ timing, print })
}
