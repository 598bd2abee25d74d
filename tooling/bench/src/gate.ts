import { setTimeout } from 'node:timers/promises'
import { checkRatios } from './gate/check-ratios.ts'
import { print } from './benchmark.ts'
import { benchmarks } from './benchmarks.ts'
import type { RatioId } from './wanted.ts'

const gatedRatios: readonly RatioId[] = [
  'http/1',
  'http/16',
  'http/64',
  'http/tail',
  'http/500-tools',
  'fetch/1',
  'fetch/16',
  'fetch/64',
  'list/1',
  'list/16',
  'rounds/16',
  'rounds/16-inline',
  'codec/200',
  'codec/2000',
  'codec/32768',
  'stdio/p50',
  'stdio/64',
  'sessions/read',
  'telemetry/api',
  'telemetry/1',
  'telemetry/100',
]

/** Measures the ratios of servers in short rounds. The exit code is 1 when a ratio is outside its limit. */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const started = performance.now()
  const short = quick ? { rounds: 3, seconds: 1, warmUp: 1 } : { rounds: 5, seconds: 1, warmUp: 5 }
  const long = { rounds: 7, seconds: 2, warmUp: 8 }
  const passed = await checkRatios(benchmarks, {
    ids: gatedRatios,
    short,
    long,
    again: 4,
    pause: () => setTimeout(60_000),
    print,
  })
  print(`${gatedRatios.length} ratios in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  if (!passed) process.exitCode = 1
}
