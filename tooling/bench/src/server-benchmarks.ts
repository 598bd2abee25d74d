import { fetchBenchmark } from './fetch/run.ts'
import type { RatioBenchmark } from './benchmark.ts'
import { gatewayBenchmark } from './gateway/run.ts'
import { hopBenchmarks } from './hop/run.ts'
import { httpBenchmark } from './http/run.ts'
import { listBenchmark } from './list/run.ts'
import { inlineRoundsBenchmark, roundsBenchmark } from './rounds/run.ts'
import { streamBenchmark } from './stream/run.ts'
import { workloadBenchmark } from './workload/run.ts'

/** The benchmarks of servers over HTTP. */
export const serverBenchmarks: readonly RatioBenchmark[] = [
  httpBenchmark,
  fetchBenchmark,
  listBenchmark,
  roundsBenchmark,
  inlineRoundsBenchmark,
  streamBenchmark,
  workloadBenchmark,
  ...hopBenchmarks,
  gatewayBenchmark,
]
