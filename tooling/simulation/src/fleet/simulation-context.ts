import type { Faults } from './faults/faults.ts'
import type { ReportViolation } from './invariants/violations.ts'
import type { VirtualTime } from './platform/virtual-time.ts'
import type { Trace } from './trace.ts'

/** The clock, the faults, the trace and the report of one simulation. */
export interface SimulationContext {
  readonly time: VirtualTime
  readonly faults: Faults
  readonly trace: Trace
  readonly report: ReportViolation
  /** The factor of leases, grace times, answers, outages and freezes: 1 for seconds, or more for minutes. */
  readonly pace: number
}
