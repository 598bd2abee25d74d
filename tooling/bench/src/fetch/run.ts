import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { echoCall } from '../http/call.ts'
import { type Comparison, compare } from '../http/compare.ts'

const comparison: Comparison = {
  title: 'tools/call of an echo tool by the fetch handler, on @hono/node-server',
  call: echoCall,
  programs: { floor: 'fetch/floor-server.js', ours: 'fetch/our-server.js', official: 'fetch/peer-server.js' },
  rows: [
    { id: 'fetch/1', connections: 1 },
    { id: 'fetch/16', connections: 16 },
    { id: 'fetch/64', connections: 64 },
  ],
}

/** Compares a tool call by the fetch handler with a function that answers a fixed text on the same adapter. */
export const fetchBenchmark: RatioBenchmark = {
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await fetchBenchmark.measure(optionsOf(options))
}
