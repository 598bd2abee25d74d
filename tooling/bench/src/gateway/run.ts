import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { callOf, expectedText } from '../http/call.ts'
import { type Comparison, compare } from '../http/compare.ts'

const comparison: Comparison = {
  title: 'tools/call of an echo tool through a gateway with two upstreams',
  call: callOf('tools/call', { name: 'one__echo', arguments: { text: expectedText, times: 1 } }, expectedText),
  programs: { floor: 'gateway/bare-server.js', ours: 'gateway/our-server.js' },
  rows: [{ id: 'gateway/cpu', connections: 16, of: 'cpuPerRequest' }],
}

/** A call through our gateway against a bare `node:http` server that sends each body on with undici. */
export const gatewayBenchmark: RatioBenchmark = {
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}

/** Measures that, and prints it. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await gatewayBenchmark.measure(optionsOf(options))
}
