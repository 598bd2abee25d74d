import { clientGauge } from './client/run.ts'
import { codecGauge } from './codec.ts'
import { fetchGauge } from './fetch/run.ts'
import type { Gauge } from './gauge.ts'
import { hopGauges } from './hop/run.ts'
import { httpGauge } from './http/run.ts'
import { listGauge } from './list/run.ts'
import { inlineRoundsGauge, roundsGauge } from './rounds/run.ts'
import { sessionsGauge } from './sessions.ts'
import { stdioGauge } from './stdio.ts'
import { streamGauge } from './stream/run.ts'
import { telemetryGauge } from './telemetry/run.ts'

/** Every benchmark that gives ratios of which something is wanted. */
export const gauges: readonly Gauge[] = [
  httpGauge,
  fetchGauge,
  listGauge,
  roundsGauge,
  inlineRoundsGauge,
  codecGauge,
  stdioGauge,
  clientGauge,
  streamGauge,
  ...hopGauges,
  sessionsGauge,
  telemetryGauge,
]
