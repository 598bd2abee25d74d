import type { RatioBenchmark, MeasureOptions, Timing } from '../benchmark.ts'
import { limitText, passes, type RatioId, type Reading, wantedText } from '../wanted.ts'

/** How ratios are held. */
export interface CheckOptions {
  /** The ratios that are held; a benchmark that has none of them is not run. */
  readonly ids: readonly RatioId[]
  readonly short: Timing
  /** For ratios that failed: they are measured again behind all others, since a machine may have been busy. */
  readonly long: Timing
  /** How often that is done. */
  readonly again: number
  /**
   * Lets time pass before it is done: whoever shares the machine is busy for minutes, and slows what has much code more
   * than a floor.
   */
  readonly pause: () => Promise<unknown>
  /** Takes each line of the report. */
  readonly print: (line: string) => void
}

/** Measures ratios, and says whether each of them is near enough to what is wanted of it. */
export async function checkRatios(benchmarks: readonly RatioBenchmark[], options: CheckOptions): Promise<boolean> {
  const { short, long, print } = options
  let failed = await measureAll(benchmarks, { only: options.ids, timing: short, print })
  for (let time = 0; time < options.again && failed.length > 0; time += 1) {
    const only = failed.map(({ id }) => id)
    print(`  again, in a while, with longer rounds: ${only.join(', ')}`)
    await options.pause()
    failed = await measureAll(benchmarks, { only, timing: long, print })
  }
  for (const reading of failed) print(failureLine(reading))
  return failed.length === 0
}

type Measuring = MeasureOptions & { readonly only: readonly RatioId[] }

async function measureAll(benchmarks: readonly RatioBenchmark[], { only, ...how }: Measuring): Promise<readonly Reading[]> {
  const failed: Reading[] = []
  for (const benchmark of benchmarks) {
    const ids = benchmark.ids.filter((id) => only.includes(id))
    failed.push(...(await measureFailing(benchmark, { ...how, only: ids })))
  }
  return failed
}

/** Those of the ratios that do not pass. */
async function measureFailing(benchmark: RatioBenchmark, { only, timing, print }: Measuring): Promise<readonly Reading[]> {
  if (only.length === 0) return []
  const readings = await benchmark.measure({ only, timing, print: () => {} })
  const missing = only.filter((asked) => !readings.some(({ id }) => id === asked))
  if (missing.length > 0)
    throw new Error(`no reading of ${missing.join(', ')}: a benchmark gives every ratio that it has`)
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
    `${ours} beside ${floor}`,
  ]
  return columns.join('  ')
}

function failureLine({ id, value, ours, floor }: Reading): string {
  return `FAILED ${id}: ${value.toFixed(2)} (${ours} beside ${floor}); wanted is ${wantedText(id)}, and ${limitText(id)} this fails`
}
