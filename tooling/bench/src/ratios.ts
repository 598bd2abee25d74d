import { type Column, measureRounds, median, medianOf, reportLines, type Round, sharesOf } from './alternating.ts'

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
  'http/both': atMost(0.28),
  'http/500-tools': atLeast(0.95),
  'fetch/1': atLeast(0.8),
  'fetch/16': atLeast(0.8),
  'fetch/both': atMost(0.28),
  'fetch/64': atLeast(0.8),
  'list/1': atLeast(0.85),
  'list/16': atLeast(0.85),
  'rounds/16': atLeast(0.66),
  'rounds/16-inline': atLeast(0.38),
  'rounds/by-hand': atMost(1.5),
  'rounds/inline-by-hand': atMost(2.2),
  'rounds/both': atMost(0.55),
  'rounds/inline-both': atMost(0.8),
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
  readonly unit?: 'clock' | 'cpu' | undefined
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
  /** Of several, the geometric mean. */
  readonly base?: string | readonly string[]
  readonly column?: Column<Measurement>
}

/** A measurement, with the microseconds of CPU of one call. */
export interface CpuMeasurement {
  readonly cpu: number
}

/** The CPU of a call. */
export const cpuColumn: Column<CpuMeasurement> = { unit: 'us CPU', of: ({ cpu }) => cpu }

/** What a benchmark compares. */
export interface Comparison<Started, Measurement> {
  /** The first is the base of the report. Targets that no row compares are peers, which only a whole run starts. */
  readonly targets: readonly { readonly name: string; readonly start: () => Promise<Started> }[]
  readonly passes: readonly Pass<Started, Measurement>[]
  /** Measures a target before the first round. Default: as the first pass does. */
  readonly warm?: Pass<Started, Measurement>['measure']
  readonly stop?: (targets: readonly Started[]) => Promise<unknown>
  /**
   * The parts of its seconds that a measurement takes, in three times the rounds. When a call takes microseconds, many
   * short rounds lose less to a busy period of the machine.
   */
  readonly parts?: { readonly round: number; readonly warmUp: number }
}

/** How long a target is measured. */
export type MeasureTime = Pick<Timing, 'unit' | 'seconds'>

/** Rounds in which all targets take turns. */
export interface Pass<Started, Measurement> {
  readonly title: string
  readonly rows: readonly RatioRow<Measurement>[]
  readonly columns: readonly [Column<Measurement>, ...Column<Measurement>[]]
  readonly measure: (target: Started, time: MeasureTime) => Promise<Measurement>
}

/** Creates a benchmark that starts the targets that a run needs, warms them up, and measures each pass. */
export function ratioBenchmark<Started extends { readonly name: string }, Measurement extends CpuMeasurement>({
  targets,
  passes,
  warm = passes[0]?.measure,
  stop,
  parts,
}: Comparison<Started, Measurement>): RatioBenchmark {
  const measure: RatioBenchmark['measure'] = async ({ timing: whole, ...options }) => {
    const timing = parts === undefined ? whole : divide(whole, parts)
    const selected = passes
      .map((pass) => ({ ...pass, rows: pass.rows.filter(({ id }) => options.only?.includes(id) ?? true) }))
      .filter(({ rows }) => rows.length > 0)
    const started: Started[] = []
    try {
      for (const { name, start } of targets)
        if (selected.some((pass) => isCompared(pass, name, options))) started.push(await start())
      for (const target of started) await warm?.(target, { unit: timing.unit, seconds: timing.warmUp })
      const readings: Reading[] = []
      for (const pass of selected) readings.push(...(await measurePass(pass, started, { ...options, timing })))
      return readings
    } finally {
      await stop?.(started)
    }
  }
  return { ids: passes.flatMap(({ rows }) => rows.map(({ id }) => id)), measure }
}

function divide(timing: Timing, { round, warmUp }: { readonly round: number; readonly warmUp: number }): Timing {
  const { rounds, seconds } = timing
  return { ...timing, rounds: rounds * 3, seconds: seconds / round, warmUp: timing.warmUp / warmUp }
}

function isCompared(
  { rows }: { readonly rows: readonly Pick<RatioRow<unknown>, 'name' | 'base'>[] },
  target: string,
  { only }: Pick<MeasureOptions, 'only'>,
): boolean {
  return only === undefined || rows.some(({ name = 'ours', base = 'floor' }) => [name, base].flat().includes(target))
}

async function measurePass<Started extends { readonly name: string }, Measurement extends CpuMeasurement>(
  pass: Pass<Started, Measurement>,
  started: readonly Started[],
  options: MeasureOptions,
): Promise<readonly Reading[]> {
  const { title, rows, columns, measure } = pass
  const { timing, print } = options
  const { rounds, unit, seconds } = timing
  print(`${title}, Node ${process.version}: ${rounds} alternating rounds of ${seconds} s; medians, ratios in a round`)
  const compared = started.filter(({ name }) => isCompared(pass, name, options))
  const measured = await measureRounds(compared, rounds, (target) => measure(target, { unit, seconds }))
  for (const line of reportLines(measured, compared[0]?.name ?? '', columns)) print(line)
  const readings = rows.map((row) => readingOf(measured, { column: columns[0], ...row }))
  for (const reading of readings) print(readingLine(reading))
  return readings
}

/** Returns the ratio of a row within each round, and that of CPU. */
function readingOf<Measurement extends CpuMeasurement>(
  rounds: readonly Round<Measurement>[],
  { id, name = 'ours', base = 'floor', column }: RatioRow<Measurement> & { readonly column: Column<Measurement> },
): Reading {
  const bases = [base].flat()
  const ratio = (of: (one: Measurement) => number): number => {
    const shares = bases.map((each) => sharesOf(rounds, { name, base: each, of }))
    const meanOf = (round: number): number =>
      shares.reduce((product, share) => product * (share[round] ?? Number.NaN), 1) ** (1 / bases.length)
    return median(rounds.map((_, round) => meanOf(round)))
  }
  const text = (target: string): string =>
    `${medianOf(rounds, target, column.of).toLocaleString('en', { maximumFractionDigits: column.digits ?? 1 })} ${column.unit}`
  return {
    id,
    value: ratio(column.of),
    ours: text(name),
    floor: bases.map(text).join(' and '),
    cpu: ratio(({ cpu }) => cpu),
  }
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

/** Measures all ratios and peers of benchmarks that the command line names. */
export async function runBenchmarks(
  benchmarks: readonly RatioBenchmark[],
  { quick }: { readonly quick: boolean },
): Promise<void> {
  const timing = quick ? { rounds: 3, seconds: 1, warmUp: 5 } : { rounds: 7, seconds: 3, warmUp: 5 }
  for (const { measure } of benchmarks) await measure({ timing, print })
}
