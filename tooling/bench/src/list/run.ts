import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { type Comparison, compare } from '../http/compare.ts'
import { listCall } from './list-call.ts'

const comparison: Comparison = {
  title: 'tools/list with 500 tools',
  call: listCall,
  programs: { floor: 'list/floor-server.js', ours: 'http/many-tools-server.js' },
  rows: [
    { id: 'list/1', connections: 1 },
    { id: 'list/16', connections: 16 },
  ],
}

/** Compares the list of 500 tools with a server that writes the same bytes from memory. */
export const listBenchmark: RatioBenchmark = {
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await listBenchmark.measure(optionsOf(options))
}
