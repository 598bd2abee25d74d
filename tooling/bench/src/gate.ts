import { checkRatios, type GatedRatio } from './gate/check-ratios.ts'
import { print } from './benchmark.ts'
import { benchmarks } from './benchmarks.ts'

/** What each takes of CPU today, in multiples of its floor. When it falls for good, lower the number here. */
const gated: readonly GatedRatio[] = [
  { id: 'http/1', today: 1.6 },
  { id: 'http/16', today: 1.5 },
  { id: 'http/by-hand', today: 1.2 },
  { id: 'http/500-tools', today: 1.05 },
  { id: 'fetch/16', today: 1.35 },
  // Mostly copies of 230 KB, so it follows the machine: 0.2 and 0.5 on two idle ones, 0.4 on the first
  // beside two busy programs. Without the cache of its bytes a list takes several times the floor.
  { id: 'list/16', today: 0.55 },
  { id: 'rounds/16', today: 2.7 },
  { id: 'rounds/by-hand', today: 1.7 },
  { id: 'rounds/16-inline', today: 4.4 },
  { id: 'rounds/inline-by-hand', today: 2.5 },
  { id: 'codec/200', today: 1.4 },
  { id: 'codec/2000', today: 1.25 },
  { id: 'codec/32768', today: 1 },
  { id: 'stdio/64', today: 3.5 },
  { id: 'sessions/read', today: 2.6 },
  { id: 'telemetry/api', today: 2.1 },
  { id: 'telemetry/1', today: 5.5 },
  { id: 'telemetry/100', today: 6.7 },
]

/**
 * Compares the CPU of servers with that of their floors, in slices of a quarter of a second that alternate. The exit
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
