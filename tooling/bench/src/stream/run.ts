import { optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { type Call, callOf } from '../http/call.ts'
import { type Comparison, compare } from '../http/compare.ts'

const { body, ...rest } = callOf('tools/call', { name: 'work', arguments: {} }, '"progress":1000')

/** A call that reports progress a thousand times. */
export const progressCall: Call = { ...rest, body: body.replace('"_meta":{', '"_meta":{"progressToken":"t",') }

const comparison: Comparison = {
  title: 'tools/call with 1,000 notifications of progress',
  call: progressCall,
  programs: { floor: 'stream/floor-server.js', ours: 'stream/our-server.js' },
  rows: [
    { id: 'stream/1', connections: 1 },
    { id: 'stream/16', connections: 16 },
  ],
}

/** Compares a call with a thousand notifications of progress with bare writes of the same bytes. */
export const streamBenchmark: RatioBenchmark = {
  ids: comparison.rows.map(({ id }) => id),
  measure: (options) => compare(comparison, options),
}

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await streamBenchmark.measure(optionsOf(options))
}
