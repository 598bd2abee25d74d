import { fetchGauge } from './fetch/run.ts'
import type { Gauge } from './gauge.ts'
import { gatewayGauge } from './gateway/run.ts'
import { hopGauges } from './hop/run.ts'
import { httpGauge } from './http/run.ts'
import { listGauge } from './list/run.ts'
import { inlineRoundsGauge, roundsGauge } from './rounds/run.ts'
import { streamGauge } from './stream/run.ts'
import { workloadGauge } from './workload/run.ts'

/** The benchmarks of servers over HTTP. */
export const serverGauges: readonly Gauge[] = [
  httpGauge,
  fetchGauge,
  listGauge,
  roundsGauge,
  inlineRoundsGauge,
  streamGauge,
  workloadGauge,
  ...hopGauges,
  gatewayGauge,
]
