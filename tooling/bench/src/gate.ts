import { ratios as codec } from './codec.ts'
import { httpRatios } from './http.ts'
import { type MeasureOptions, print, type RatioBenchmark, type RatioId, type Reading, type Timing } from './ratios.ts'
import { ratios as sessions } from './sessions.ts'
import { ratios as stdio } from './stdio.ts'
import { ratios as telemetry } from './telemetry.ts'

const benchmarks = [...[...httpRatios.values()].flat(), ...codec, ...stdio, ...sessions, ...telemetry]

/**
 * What each takes of CPU today, in multiples of its base. When it falls for good, lower the number here.
 *
 * Machines differ in what code costs that their caches do not hold: a call of the official SDK takes the CPU of 15 calls
 * of the hand-written server on one, and of 48 on another. Ours is between them in size, and its multiple of the mean of
 * both is the same on these machines within a sixth, also beside two busy programs.
 */
const gated: readonly GatedRatio[] = [
  { id: 'http/both', today: 0.25 },
  { id: 'http/500-tools', today: 1.05 },
  { id: 'fetch/both', today: 0.3 },
  // Mostly copies of 230 KB, so it follows the machine: 0.2 and 0.5 on two idle ones, 0.4 on the first
  // beside two busy programs. Without the cache of its bytes a list takes several times the floor.
  { id: 'list/16', today: 0.55 },
  { id: 'rounds/both', today: 0.55 },
  { id: 'rounds/inline-both', today: 0.82 },
  { id: 'codec/200', today: 1.4 },
  { id: 'codec/2000', today: 1.25 },
  { id: 'codec/32768', today: 1 },
  { id: 'stdio/64', today: 4.2 },
  { id: 'sessions/read', today: 2.6 },
  { id: 'telemetry/api', today: 2.1 },
  { id: 'telemetry/1', today: 5.5 },
  { id: 'telemetry/100', today: 6.7 },
]

/**
 * Compares the CPU of servers with that of their bases, in slices of a quarter of a second that alternate. The exit
 * code is 1 when a ratio is above its limit.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const started = performance.now()
  const timing = { unit: 'cpu', rounds: quick ? 5 : 11, seconds: 0.2, warmUp: 2 } as const
  const longer = { unit: 'cpu', rounds: 25, seconds: 0.2, warmUp: 4 } as const
  const passed = await checkRatios(benchmarks, { gated, timing, longer, print })
  print(`${gated.length} ratios in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  if (!passed) process.exitCode = 1
}

/** A ratio of CPU that may not grow. */
interface GatedRatio {
  readonly id: RatioId
  /** The CPU of our program in multiples of the base's. */
  readonly today: number
}

/** The options of a check of ratios. */
interface CheckOptions extends Pick<MeasureOptions, 'timing' | 'print'> {
  readonly gated: readonly GatedRatio[]
  /** The timing of the second measurement, which decides about a ratio that was above its limit. */
  readonly longer: Timing
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

/** Measures ratios, and returns those above their limits. */
async function measureAll(
  benchmarks: readonly RatioBenchmark[],
  { gated, timing, print }: Omit<CheckOptions, 'longer'>,
): Promise<readonly GatedRatio[]> {
  const high: GatedRatio[] = []
  for (const benchmark of benchmarks) {
    const only = benchmark.ids.filter((id) => gated.some((ratio) => ratio.id === id))
    const readings = only.length === 0 ? [] : await benchmark.measure({ only, timing, print: () => {} })
    for (const ratio of gated.filter(({ id }) => only.includes(id))) {
      const reading = readings.find(({ id }) => id === ratio.id)
      if (reading === undefined)
        throw new Error(`no CPU of ${ratio.id}: a benchmark must measure every ratio that it lists`)
      // Comparisons with NaN are false, so a ratio that is not a number does not pass.
      const passes = reading.cpu <= ratio.today * room
      print(ratioLine(ratio, reading, passes))
      if (!passes) high.push(ratio)
    }
  }
  return high
}

function ratioLine({ id, today }: GatedRatio, { cpu, ours, floor }: Reading, passes: boolean): string {
  const columns = [
    passes ? '  ok  ' : '  HIGH',
    id.padEnd(16),
    `CPU ${cpu.toFixed(2)} x the base's`,
    `today ${today.toFixed(2)}, at most ${(today * room).toFixed(2)}`,
    `${ours}, floor ${floor}`,
  ]
  return columns.join('  ')
}
