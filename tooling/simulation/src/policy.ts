// The simulation runs the code of the server and of the client itself, not a copy of it.
export { computeHandOffDelayMs as handOffPause } from '../../../packages/client/src/request/round-options.ts'
export type { HandOffReport as HandOffTag } from '../../../packages/server/src/shedding/fleet-view.ts'
export { beginDrain } from '../../../packages/server/src/shedding/drain.ts'
export {
  decideHandOff as handOffReason,
  recordReceivedHandOff,
  createHandOffReport,
} from '../../../packages/server/src/shedding/hand-off.ts'
export {
  createLoadMonitor,
  beginMonitoredCall,
  endMonitoredCall,
  type LoadMonitor,
  readServerLoad,
} from '../../../packages/server/src/shedding/load-monitor.ts'
export { sheddingRulesOf as rulesOf, sheddingSettings } from '../../../packages/server/src/shedding/shedding-rules.ts'
export type { SheddingSettings, HandOffReason } from '../../../packages/server/src/shedding/shedding-options.ts'
