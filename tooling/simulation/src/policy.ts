// The simulation runs the code of the server and of the client, not a copy.
export { computeHandOffDelayMs } from '../../../packages/client/src/request/round-options.ts'
export { maxHandOffs } from '../../../packages/client/src/rounds/check-round.ts'
export type { HandOffReport } from '../../../packages/server/src/shedding/fleet-view.ts'
export { decideHandOff } from '../../../packages/server/src/shedding/hand-off.ts'
export { LoadMonitor } from '../../../packages/server/src/shedding/load-monitor.ts'
export { sheddingRulesOf, sheddingSettings } from '../../../packages/server/src/shedding/shedding-rules.ts'
export type { SheddingSettings } from '../../../packages/server/src/shedding/shedding-options.ts'
