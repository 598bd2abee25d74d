import type { RatioBenchmark, Timing } from '../benchmark.ts'
import type { RatioId, Reading } from '../wanted.ts'

/** A ratio of CPU that may not grow. */
export interface GatedRatio {
  readonly id: RatioId
  /** The CPU of our program in multiples of the floor's. */
  readonly today: number
}

/** The options of a check of ratios. */
export interface CheckOptions {
  readonly gated: readonly GatedRatio[]
  readonly timing: Timing
  /** The timing of the second measurement, which decides about a ratio that was above its limit. */
  readonly longer: Timing
  /** Receives each line of the report. */
  readonly print: (line: string) => void
}

/** A ratio fails beyond this multiple of today's value. Between runs and machines it varies by less. */
const room = 1.2

/** Measures ratios of CPU, and returns true if each of them is within its limit. */
export async function checkRatios(benchmarks: readonly RatioBenchmark[], options: CheckOptions): Promise<boolean> {
  const { gated, timing, longer, print } = options
  const high = await measureAll(benchmarks, { gated, timing, print })
  if (high.length > 0) print('  measured again, for longer:')
  const failed = high.length === 0 ? [] : await measureAll(benchmarks, { gated: high, timing: longer, print })
  for (const { id } of failed) print(`FAILED ${id}: it takes more CPU than its limit, see above`)
  return failed.length === 0
}

type Measuring = Omit<CheckOptions, 'longer'>

/** Measures ratios, and returns those above their limits. */
async function measureAll(
  benchmarks: readonly RatioBenchmark[],
  { gated, timing, print }: Measuring,
): Promise<readonly GatedRatio[]> {
  const high: GatedRatio[] = []
  for (const benchmark of benchmarks) {
    const only = benchmark.ids.filter((id) => gated.some((ratio) => ratio.id === id))
    const readings = only.length === 0 ? [] : await benchmark.measure({ only, timing, print: () => {} })
    for (const ratio of gated.filter(({ id }) => only.includes(id))) {
      const reading = cpuOf(readings, ratio.id)
      // Comparisons with NaN are false, so a ratio that is not a number does not pass.
      const passes = reading.cpu <= ratio.today * room
      print(ratioLine(ratio, reading, passes))
      if (!passes) high.push(ratio)
    }
  }
  return high
}

function cpuOf(readings: readonly Reading[], id: RatioId): Reading & { readonly cpu: number } {
  const reading = readings.find((one) => one.id === id)
  if (reading?.cpu === undefined) throw new Error(`no CPU of ${id}: a benchmark must measure every ratio that it lists`)
  return { ...reading, cpu: reading.cpu }
}

function ratioLine(
  { id, today }: GatedRatio,
  { cpu, ours, floor }: Reading & { cpu: number },
  passes: boolean,
): string {
  const columns = [
    passes ? '  ok  ' : '  HIGH',
    id.padEnd(16),
    `CPU ${cpu.toFixed(2)} x the floor's`,
    `today ${today.toFixed(2)}, at most ${(today * room).toFixed(2)}`,
    `${ours}, floor ${floor}`,
  ]
  return columns.join('  ')
}
