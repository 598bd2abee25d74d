import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { echoCall } from '../http/call.ts'
import { type Comparison, compare } from '../http/compare.ts'
import { progressCall } from '../stream/run.ts'

const calls: Comparison = {
  title: 'tools/call of an echo tool through a proxy',
  call: echoCall,
  programs: { floor: 'hop/bare-call-server.js', ours: 'hop/our-call-server.js' },
  rows: [{ id: 'hop/cpu', connections: 16, of: 'cpuPerRequest' }],
}

const progress: Comparison = {
  title: 'tools/call with 1,000 notifications of progress through a proxy',
  call: progressCall,
  programs: {
    floor: 'hop/bare-progress-server.js',
    reading: 'hop/reading-progress-server.js',
    ours: 'hop/our-progress-server.js',
  },
  rows: [
    { id: 'hop/progress', connections: 1 },
    { id: 'hop/read-progress', connections: 1, base: 'reading' },
  ],
}

/** Compares a hop through our proxy with a bare `node:http` server that forwards each body with undici. */
export const hopBenchmarks: readonly RatioBenchmark[] = [calls, progress].map((comparison) => ({
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}))

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  for (const benchmark of hopBenchmarks) await benchmark.measure(optionsOf(options))
}
