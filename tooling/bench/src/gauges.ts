import { clientGauge } from './client/run.ts'
import { codecGauge } from './codec.ts'
import type { Gauge } from './gauge.ts'
import { serverGauges } from './server-gauges.ts'
import { sessionsGauge } from './sessions.ts'
import { stdioGauge } from './stdio.ts'
import { telemetryGauge } from './telemetry/run.ts'

/** Every benchmark that gives ratios of which something is wanted. */
export const gauges: readonly Gauge[] = [
  ...serverGauges,
  codecGauge,
  stdioGauge,
  clientGauge,
  sessionsGauge,
  telemetryGauge,
]
