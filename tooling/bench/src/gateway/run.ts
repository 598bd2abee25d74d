import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { callOf, expectedText } from '../http/call.ts'
import { type Comparison, compare } from '../http/compare.ts'

const comparison: Comparison = {
  title: 'tools/call of an echo tool through a gateway with two upstreams',
  call: callOf('tools/call', { name: 'one__echo', arguments: { text: expectedText, times: 1 } }, expectedText),
  programs: { floor: 'gateway/bare-server.js', ours: 'gateway/our-server.js' },
  rows: [{ id: 'gateway/cpu', connections: 16, of: 'cpuPerRequest' }],
}

/** Compares a call through our gateway with a bare `node:http` server that forwards each body with undici. */
export const gatewayBenchmark: RatioBenchmark = {
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await gatewayBenchmark.measure(optionsOf(options))
}
