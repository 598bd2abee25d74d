import type { RatioBenchmark, MeasureOptions, Timing } from '../benchmark.ts'
import { limitText, passes, type RatioId, type Reading, wantedText } from '../wanted.ts'

/** The options of a check of ratios. */
export interface CheckOptions {
  /** The ratios to check. A benchmark with none of them does not run. */
  readonly ids: readonly RatioId[]
  readonly short: Timing
  /**
   * The timing for ratios that failed. They are measured again after all others, because the machine may have been
   * busy.
   */
  readonly long: Timing
  /** The largest number of repeated measurements. */
  readonly again: number
  /**
   * Waits before a repeated measurement. Other programs on the machine may be busy for minutes, and they slow down
   * large programs more than a floor.
   */
  readonly pause: () => Promise<unknown>
  /** Receives each line of the report. */
  readonly print: (line: string) => void
}

/** Measures ratios, and returns true if each of them passes the gate. */
export async function checkRatios(benchmarks: readonly RatioBenchmark[], options: CheckOptions): Promise<boolean> {
  const { short, long, print } = options
  let failed = await measureAll(benchmarks, { only: options.ids, timing: short, print })
  for (let time = 0; time < options.again && failed.length > 0; time += 1) {
    const only = failed.map(({ id }) => id)
    print(`  repeated after a pause with longer rounds: ${only.join(', ')}`)
    await options.pause()
    failed = await measureAll(benchmarks, { only, timing: long, print })
  }
  for (const reading of failed) print(failureLine(reading))
  return failed.length === 0
}

type Measuring = MeasureOptions & { readonly only: readonly RatioId[] }

async function measureAll(
  benchmarks: readonly RatioBenchmark[],
  { only, ...options }: Measuring,
): Promise<readonly Reading[]> {
  const failed: Reading[] = []
  for (const benchmark of benchmarks) {
    const ids = benchmark.ids.filter((id) => only.includes(id))
    failed.push(...(await measureFailing(benchmark, { ...options, only: ids })))
  }
  return failed
}

/** Measures ratios of one benchmark, and returns those that do not pass. */
async function measureFailing(
  benchmark: RatioBenchmark,
  { only, timing, print }: Measuring,
): Promise<readonly Reading[]> {
  if (only.length === 0) return []
  const readings = await benchmark.measure({ only, timing, print: () => {} })
  const missing = only.filter((expected) => !readings.some(({ id }) => id === expected))
  if (missing.length > 0)
    throw new Error(`no reading of ${missing.join(', ')}: a benchmark must return every ratio that it lists`)
  for (const reading of readings) print(ratioLine(reading))
  return readings.filter((reading) => !passes(reading))
}

function ratioLine(reading: Reading): string {
  const { id, value, ours, floor } = reading
  const columns = [
    passes(reading) ? '  ok  ' : '  LOW ',
    id.padEnd(16),
    value.toFixed(2).padStart(6),
    `wanted ${wantedText(id)}`,
    `fails ${limitText(id)}`,
    `${ours}, floor ${floor}`,
  ]
  return columns.join('  ')
}

function failureLine({ id, value, ours, floor }: Reading): string {
  return `FAILED ${id}: ${value.toFixed(2)} (${ours}, floor ${floor}); wanted is ${wantedText(id)}, and it fails ${limitText(id)}`
}
