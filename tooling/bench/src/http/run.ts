import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { echoCall } from './call.ts'
import { type Comparison, compare } from './compare.ts'

const comparison: Comparison = {
  title: 'tools/call of an echo tool',
  call: echoCall,
  programs: {
    floor: 'http/floor-server.js',
    ours: 'http/our-server.js',
    '500 tools': 'http/many-tools-server.js',
    'by hand': 'http/hand-server.js',
    official: 'http/peer-server.js',
  },
  rows: [
    { id: 'http/1', connections: 1 },
    { id: 'http/16', connections: 16 },
    { id: 'http/by-hand', connections: 16, base: 'by hand', of: 'cpuPerRequest' },
    { id: 'http/500-tools', connections: 16, name: '500 tools', base: 'ours' },
    { id: 'http/64', connections: 64 },
    { id: 'http/tail', connections: 64, of: 'tail' },
    { id: 'http/256', connections: 256 },
  ],
}

/** Compares a tool call over HTTP with a bare `node:http` server, a hand-written one and the official SDK. */
export const httpBenchmark: RatioBenchmark = {
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await httpBenchmark.measure(optionsOf(options))
}
