import { clientBenchmark } from './client/run.ts'
import { codecBenchmark } from './codec.ts'
import type { RatioBenchmark } from './benchmark.ts'
import { serverBenchmarks } from './server-benchmarks.ts'
import { sessionsBenchmark } from './sessions.ts'
import { stdioBenchmark } from './stdio.ts'
import { telemetryBenchmark } from './telemetry/run.ts'

/** Every benchmark whose ratios have wanted values. */
export const benchmarks: readonly RatioBenchmark[] = [
  ...serverBenchmarks,
  codecBenchmark,
  stdioBenchmark,
  clientBenchmark,
  sessionsBenchmark,
  telemetryBenchmark,
]
