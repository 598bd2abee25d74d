import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { type Comparison, compare } from '../http/compare.ts'
import { firstCall } from './flow.ts'

const comparison: Comparison = {
  title: 'a tool that asks twice, three POSTs a flow',
  call: firstCall(),
  unit: 'POST',
  load: 'rounds/flow-client.js',
  programs: {
    floor: 'rounds/floor-server.js',
    ours: 'rounds/our-server.js',
    'by hand': 'rounds/hand-server.js',
    official: 'rounds/peer-server.js',
  },
  rows: [
    { id: 'rounds/16', connections: 16 },
    { id: 'rounds/by-hand', connections: 16, base: 'by hand', of: 'cpuPerRequest' },
  ],
}

const inlineComparison: Comparison = {
  ...comparison,
  title: 'the same, with schemas that are built in each run',
  programs: {
    floor: 'rounds/floor-server.js',
    ours: 'rounds/our-inline-server.js',
    'by hand': 'rounds/hand-server.js',
  },
  rows: [
    { id: 'rounds/16-inline', connections: 16 },
    { id: 'rounds/inline-by-hand', connections: 16, base: 'by hand', of: 'cpuPerRequest' },
  ],
}

/** Compares the same calls with a handler that builds its schemas in each run, instead of `form()` at module level. */
export const inlineRoundsBenchmark: RatioBenchmark = {
  ids: inlineComparison.rows.map(({ id }) => id),
  measure: (options) => compare(inlineComparison, options),
}

/**
 * Compares calls with two questions and a sealed, bound state with a server that answers fixed texts of the same size,
 * and with a hand-written server that does the same for this one tool.
 */
export const roundsBenchmark: RatioBenchmark = {
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await roundsBenchmark.measure(optionsOf(options))
  await inlineRoundsBenchmark.measure(optionsOf(options))
}
